/**
 * The interface of copies of snapshots between nodes: the service that sends and receives them, the store at each end, and
 * the layout of a snapshot's bytes. Plain types; {@code dev.troupe.snapshot.stream} implements them.
 */
package dev.troupe.snapshot.copy;
