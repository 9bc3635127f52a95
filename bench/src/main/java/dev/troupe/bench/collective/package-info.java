/**
 * The cost of collectives: the groups of Troupe, in one JVM and between JVMs, beside Gloo's and a plain copy.
 *
 * <p>Imports the JDK, {@code dev.troupe.bench}, {@code dev.troupe.collective}, {@code dev.troupe.collective.aeron},
 * {@code dev.troupe.collective.shared}, {@code dev.troupe.engine}, {@code dev.troupe.transport},
 * {@code dev.troupe.transport.aeron} and {@code picocli}.
 */
package dev.troupe.bench.collective;
