/**
 * Layers of transformers on one rank: what each keeps of a microbatch, its forward and its two backwards, in kernels of
 * an engine. Straight-line code: no actor, thread or clock in it.
 */
package dev.troupe.layer;
