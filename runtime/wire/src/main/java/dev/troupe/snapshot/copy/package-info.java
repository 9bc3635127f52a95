/**
 * The copies of snapshots between nodes, as their users see them: the service that sends and receives them, the store at
 * each of its ends, and the layout of a snapshot's bytes. Plain types; the implementation is in
 * {@code dev.troupe.snapshot.stream}.
 */
package dev.troupe.snapshot.copy;
