/**
 * A run from its specification to its end: what is planned and checked before anything starts, where files go, and the
 * actor system that carries it out.
 *
 * <p>Imports the JDK, {@code dev.troupe.actor}, {@code dev.troupe.checkpoint}, {@code dev.troupe.collective},
 * {@code dev.troupe.collective.aeron}, {@code dev.troupe.collective.node}, {@code dev.troupe.config},
 * {@code dev.troupe.config.cluster}, {@code dev.troupe.config.fault}, {@code dev.troupe.config.group},
 * {@code dev.troupe.data}, {@code dev.troupe.engine}, {@code dev.troupe.fault}, {@code dev.troupe.machine},
 * {@code dev.troupe.model}, {@code dev.troupe.parallel}, {@code dev.troupe.schedule},
 * {@code dev.troupe.schedule.builder}, {@code dev.troupe.schedule.certificate}, {@code dev.troupe.schedule.timeline},
 * {@code dev.troupe.snapshot}, {@code dev.troupe.transport}, {@code dev.troupe.transport.aeron},
 * {@code dev.troupe.weights}, {@code com.typesafe.config}, {@code org.apache.pekko} and {@code org.slf4j}.
 */
package dev.troupe.run;
