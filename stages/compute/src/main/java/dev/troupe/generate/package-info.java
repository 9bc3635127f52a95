/**
 * A whole model on one engine: sampling, and its loss on data.
 *
 * <p>Imports the JDK, {@code dev.troupe.batch}, {@code dev.troupe.engine}, {@code dev.troupe.layer},
 * {@code dev.troupe.layer.cache}, {@code dev.troupe.model}, {@code dev.troupe.model.spec}, {@code dev.troupe.parallel},
 * {@code dev.troupe.partition}, {@code dev.troupe.shard}, {@code dev.troupe.stage} and {@code dev.troupe.weights}.
 */
package dev.troupe.generate;
