/**
 * The recording of actions and their times: a trace for each rank, the pauses of the process, a common clock, and the
 * coordinator's collection of steps.
 */
package dev.troupe.rank.trace;
