/**
 * The interface of schedules, and their common parts: builders of rows, checks of sizes, rounds over virtual stages, blocks.
 *
 * <p>Imports the JDK and {@code dev.troupe.schedule}.
 */
package dev.troupe.schedule.builder;
