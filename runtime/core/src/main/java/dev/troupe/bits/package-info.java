/**
 * The recorder of bits: digests of what each rank computes in a step, put together at the coordinator.
 *
 * <p>Imports the JDK, {@code dev.troupe.config.group}, {@code dev.troupe.engine}, {@code dev.troupe.engine.digest},
 * {@code dev.troupe.layer}, {@code dev.troupe.model}, {@code dev.troupe.model.spec}, {@code dev.troupe.parallel},
 * {@code dev.troupe.partition}, {@code dev.troupe.plan}, {@code dev.troupe.schedule}, {@code dev.troupe.shard} and
 * {@code dev.troupe.stage}.
 */
package dev.troupe.bits;
