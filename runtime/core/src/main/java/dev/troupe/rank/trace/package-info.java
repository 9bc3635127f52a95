/**
 * The recording of actions and their times: a trace for each rank, the pauses of the process, a common clock, the
 * coordinator's steps.
 */
package dev.troupe.rank.trace;
