/**
 * Copies of snapshots, streamed to other nodes frame by frame: one thread of a node, and a way of its own to each node that
 * has copies.
 */
package dev.troupe.snapshot.stream;
