/**
 * What the actions of a row mean to a stage on an engine. Nothing here knows actors, the transport's
 * threads, or another process.
 *
 * <p>Imports the JDK, {@code dev.troupe.batch}, {@code dev.troupe.config.group}, {@code dev.troupe.engine},
 * {@code dev.troupe.engine.provider}, {@code dev.troupe.plan}, {@code dev.troupe.protocol},
 * {@code dev.troupe.protocol.rank}, {@code dev.troupe.protocol.run}, {@code dev.troupe.schedule} and
 * {@code dev.troupe.stage}.
 */
package dev.troupe.step;
