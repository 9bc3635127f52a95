/**
 * The recording of actions and their times: a trace for each rank, the pauses of the process, one clock for all nodes, and
 * the steps put together at the coordinator.
 */
package dev.troupe.rank.trace;
