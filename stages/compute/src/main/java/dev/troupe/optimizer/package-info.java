/**
 * How weights are updated: optimizers with what they remember, learning rates, the norm of all gradients.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.layer}, {@code dev.troupe.model} and
 * {@code dev.troupe.shard}.
 */
package dev.troupe.optimizer;
