/**
 * The choice of the implementation of each process group: threads of one JVM meet in shared memory, nodes over streams and
 * connections.
 *
 * <p>Imports the JDK, {@code dev.troupe.collective}, {@code dev.troupe.collective.aeron},
 * {@code dev.troupe.collective.shared}, {@code dev.troupe.config.group}, {@code dev.troupe.transport} and
 * {@code dev.troupe.transport.tcp}.
 */
package dev.troupe.collective.node;
