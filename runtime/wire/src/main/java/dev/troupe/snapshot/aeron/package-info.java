/**
 * Copies of snapshots over Aeron and over connections: one thread a node, one stream or connection to each node that has
 * copies, apart from those of tensors and of collectives.
 */
package dev.troupe.snapshot.aeron;
