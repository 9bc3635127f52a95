/**
 * The files that a run leaves in its directory: metrics, events, its facts and memory, a record and a trace of its steps,
 * TensorBoard's events, its model.
 */
package dev.troupe.output;
