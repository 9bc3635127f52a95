/**
 * What a plan costs: costs in, times out. Events follow the plan's own dependencies, so nothing is sorted by time and
 * nothing is made per event.
 *
 * <p>Imports {@code dev.troupe.schedule}, {@code dev.troupe.schedule.timeline} and the JDK only.
 */
package dev.troupe.schedule.simulator;
