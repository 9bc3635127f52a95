/**
 * The schedules: rules that make a plan from a number of ranks, virtual stages and microbatches. One file each.
 *
 * <p>Imports {@code dev.troupe.schedule} and the JDK only.
 */
package dev.troupe.schedule.builder;
