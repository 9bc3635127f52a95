/**
 * How weights are updated: optimizers with their state, and learning rates.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.layer}, {@code dev.troupe.model.spec} and
 * {@code dev.troupe.shard}.
 */
package dev.troupe.optimizer;
