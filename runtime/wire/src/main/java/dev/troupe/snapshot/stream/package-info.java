/**
 * Copies of snapshots that are streamed to other nodes frame by frame: one thread for a node, and a way to each node with
 * copies.
 */
package dev.troupe.snapshot.stream;
