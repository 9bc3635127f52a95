/**
 * A stage: its layers, the tapes of its microbatches, its state. Straight-line code: no actor, thread or clock in it.
 *
 * <p>Imports the JDK, {@code dev.troupe.batch}, {@code dev.troupe.engine}, {@code dev.troupe.layer},
 * {@code dev.troupe.model}, {@code dev.troupe.model.spec}, {@code dev.troupe.optimizer}, {@code dev.troupe.parallel},
 * {@code dev.troupe.partition}, {@code dev.troupe.shard} and {@code dev.troupe.weights}.
 */
package dev.troupe.stage;
