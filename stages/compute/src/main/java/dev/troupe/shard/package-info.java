/**
 * Weights and gradients of a stage in flat buffers: the versions of the weights that a stage holds at a time, frozen
 * weights, and the shares of ranks that hold the same weights (ZeRO).
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.layer}, {@code dev.troupe.model.spec},
 * {@code dev.troupe.parallel} and {@code dev.troupe.weights}.
 */
package dev.troupe.shard;
