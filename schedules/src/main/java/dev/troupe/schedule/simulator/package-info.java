/**
 * What a plan costs: costs in, times out. Events follow the plan's own dependencies, so nothing is sorted by time and
 * nothing is made per event.
 *
 * <p>Imports the JDK, {@code dev.troupe.schedule} and {@code dev.troupe.schedule.timeline}.
 */
package dev.troupe.schedule.simulator;
