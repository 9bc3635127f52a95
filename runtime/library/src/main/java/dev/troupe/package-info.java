/**
 * Troupe as a library: {@link dev.troupe.Troupe} trains, {@link dev.troupe.TrainingSpec} says what,
 * {@link dev.troupe.Checkpoint} reads the result. This package is the interface for programs; all others may change.
 *
 * <p>Imports the JDK, {@code dev.troupe.checkpoint}, {@code dev.troupe.cluster}, {@code dev.troupe.cluster.status},
 * {@code dev.troupe.config}, {@code dev.troupe.config.cluster}, {@code dev.troupe.engine},
 * {@code dev.troupe.engine.provider}, {@code dev.troupe.model.spec}, {@code dev.troupe.observe},
 * {@code dev.troupe.output}, {@code dev.troupe.page}, {@code dev.troupe.plan}, {@code dev.troupe.prepare},
 * {@code dev.troupe.protocol}, {@code dev.troupe.protocol.watch}, {@code dev.troupe.run},
 * {@code dev.troupe.schedule.family}, {@code dev.troupe.transport}, {@code com.typesafe.config},
 * {@code org.apache.pekko} and {@code org.slf4j}.
 */
package dev.troupe;
