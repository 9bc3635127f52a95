/**
 * Copies of snapshots over Aeron: one thread a node, one stream to each node that has copies, apart from the streams of
 * tensors and of collectives.
 *
 * <p>Imports the JDK, {@code dev.troupe.protocol.replica}, {@code dev.troupe.snapshot}, {@code dev.troupe.transport},
 * {@code io.aeron}, {@code org.agrona} and {@code org.slf4j}.
 */
package dev.troupe.snapshot.aeron;
