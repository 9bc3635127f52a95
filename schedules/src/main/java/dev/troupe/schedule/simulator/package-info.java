/**
 * The simulation of a plan: costs in, times out. Events follow the plan's own dependencies, so no event is sorted by
 * time or made as an object.
 *
 * <p>Imports the JDK, {@code dev.troupe.schedule} and {@code dev.troupe.schedule.timeline}.
 */
package dev.troupe.schedule.simulator;
