/**
 * Copies of snapshots over Aeron: one thread a node, one stream to each node that has copies, apart from those of tensors
 * and of collectives. May import the JDK, {@code dev.troupe.snapshot}, {@code dev.troupe.transport}, Aeron, Agrona and
 * SLF4J.
 */
package dev.troupe.snapshot.aeron;
