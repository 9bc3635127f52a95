/**
 * The files of a run in its directory: metrics, events, facts, memory, records and a trace of steps, TensorBoard's events,
 * the model.
 */
package dev.troupe.look.output;
