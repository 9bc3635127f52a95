/** The simulation of a plan: costs in, times out. It follows the plan's dependencies, without an event queue. */
package dev.troupe.schedule.simulator;
