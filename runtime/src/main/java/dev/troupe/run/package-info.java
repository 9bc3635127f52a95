/**
 * A run from its specification to its end: what is planned and checked before anything starts, where files go, and the
 * actor system that carries it out.
 *
 * <p>Imports the JDK, {@code dev.troupe.actor}, {@code dev.troupe.checkpoint}, {@code dev.troupe.collective},
 * {@code dev.troupe.collective.node}, {@code dev.troupe.config.spec}, {@code dev.troupe.fault},
 * {@code dev.troupe.machine}, {@code dev.troupe.membership}, {@code dev.troupe.observe}, {@code dev.troupe.plan},
 * {@code dev.troupe.prepare}, {@code dev.troupe.snapshot}, {@code dev.troupe.transport},
 * {@code dev.troupe.transport.aeron}, {@code dev.troupe.warmup}, {@code com.typesafe.config} and
 * {@code org.apache.pekko}.
 */
package dev.troupe.run;
