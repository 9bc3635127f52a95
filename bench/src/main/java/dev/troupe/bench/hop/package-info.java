/**
 * What a hop of a message between two ranks costs, in one JVM and between two, and a collective of two machines.
 *
 * <p>Imports the JDK, {@code dev.troupe.bench}, {@code dev.troupe.cluster.tls}, {@code dev.troupe.collective},
 * {@code dev.troupe.collective.aeron}, {@code dev.troupe.config},
 * {@code dev.troupe.config.cluster}, {@code dev.troupe.config.spec}, {@code dev.troupe.engine},
 * {@code dev.troupe.engine.cpu}, {@code dev.troupe.engine.provider}, {@code dev.troupe.port},
 * {@code dev.troupe.prepare}, {@code dev.troupe.protocol}, {@code dev.troupe.transport},
 * {@code dev.troupe.transport.aeron}, {@code dev.troupe.transport.driver}, {@code dev.troupe.transport.tcp} and
 * {@code picocli}.
 */
package dev.troupe.bench.hop;
