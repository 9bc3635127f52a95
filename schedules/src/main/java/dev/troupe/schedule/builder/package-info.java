/**
 * What a schedule is, and what schedules share: rows in the making, checks of sizes, rounds over virtual stages, blocks.
 *
 * <p>Imports the JDK and {@code dev.troupe.schedule}.
 */
package dev.troupe.schedule.builder;
