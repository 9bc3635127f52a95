/**
 * The choice of the implementation of each process group: threads of one JVM meet in shared memory, nodes over Aeron.
 *
 * <p>Imports the JDK, {@code dev.troupe.collective}, {@code dev.troupe.collective.aeron},
 * {@code dev.troupe.collective.shared}, {@code dev.troupe.config.group} and {@code dev.troupe.transport}.
 */
package dev.troupe.collective.node;
