/**
 * The schedules: rules that make a plan from a number of ranks, virtual stages and microbatches. One file each.
 *
 * <p>Imports the JDK and {@code dev.troupe.schedule}.
 */
package dev.troupe.schedule.builder;
