/**
 * Layers of transformers on one rank: what each keeps of a microbatch, its forward and its two backwards, in kernels of
 * an engine. Straight-line code: no actor, thread or clock in it.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.layer.cache}, {@code dev.troupe.model.spec} and
 * {@code dev.troupe.parallel}.
 */
package dev.troupe.layer;
