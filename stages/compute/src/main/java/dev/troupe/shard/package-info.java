/**
 * Weights and gradients of a stage in flat buffers, and what of them the ranks that hold the same weights share out
 * (ZeRO).
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.layer}, {@code dev.troupe.model.spec},
 * {@code dev.troupe.parallel} and {@code dev.troupe.weights}.
 */
package dev.troupe.shard;
