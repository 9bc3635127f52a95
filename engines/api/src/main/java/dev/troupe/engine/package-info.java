/**
 * The contract of engines: {@link dev.troupe.engine.Tensor}, {@link dev.troupe.engine.Engine} with its memory and groups of
 * kernels, fences, and the values that kernels take.
 */
package dev.troupe.engine;
