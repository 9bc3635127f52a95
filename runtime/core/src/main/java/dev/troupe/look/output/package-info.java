/**
 * The files of a run in its directory: metrics, events, its facts and memory, a record and a trace of its steps,
 * TensorBoard's events, its model.
 */
package dev.troupe.look.output;
