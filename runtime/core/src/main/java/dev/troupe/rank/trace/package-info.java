/**
 * The recording of actions and their times: a trace for each rank, the pauses of the process, a common clock for all nodes,
 * and the steps, collected at the coordinator.
 */
package dev.troupe.rank.trace;
