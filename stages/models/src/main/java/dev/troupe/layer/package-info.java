/**
 * Layers of transformers on one rank, in kernels of an engine: the forward, its two backwards, and the tensors kept of a
 * microbatch. Straight-line code: no actor, thread or clock in it.
 */
package dev.troupe.layer;
