/**
 * How weights are updated: optimizers with what they remember, learning rates, the norm of all gradients.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.layer} and {@code dev.troupe.shard}.
 */
package dev.troupe.optimizer;
