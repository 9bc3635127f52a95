/**
 * The simulation of a plan: costs in, times out. Events follow the plan's own dependencies, so no event is sorted by
 * time or made as an object.
 */
package dev.troupe.schedule.simulator;
