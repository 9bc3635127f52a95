/**
 * Copies of snapshots over Aeron and over connections: one thread a node, one stream or connection to each node that has
 * copies, apart from those of tensors and of collectives.
 *
 * <p>Imports the JDK, {@code dev.troupe.protocol.replica}, {@code dev.troupe.snapshot.copy},
 * {@code dev.troupe.transport}, {@code dev.troupe.transport.tcp}, {@code dev.troupe.wire}, {@code dev.troupe.wire.sbe},
 * {@code io.aeron}, {@code org.agrona} and {@code org.slf4j}.
 */
package dev.troupe.snapshot.aeron;
