/**
 * The process groups of a node's ranks, by kind and epoch, and a group over the tensors of an engine. Threads of one JVM
 * meet in shared memory, or on the device of their engines; nodes over streams and connections.
 *
 * <p>Imports the JDK, {@code dev.troupe.collective}, {@code dev.troupe.collective.aeron},
 * {@code dev.troupe.collective.shared}, {@code dev.troupe.config.group}, {@code dev.troupe.engine},
 * {@code dev.troupe.parallel}, {@code dev.troupe.transport} and {@code dev.troupe.transport.tcp}.
 */
package dev.troupe.group;
