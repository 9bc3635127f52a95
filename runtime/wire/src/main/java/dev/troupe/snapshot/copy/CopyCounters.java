package dev.troupe.snapshot.copy;

/**
 * The counts of a node's snapshot copies since its start.
 *
 * @param bytesSent bytes sent to other nodes, with headers of frames, also of aborted copies
 * @param sent snapshots that were sent completely or shared
 * @param brokenOff copies that were aborted: the snapshot was overwritten, or the receiver lost
 * @param received snapshots that were received completely or mapped
 * @param refused copies that were refused: damaged, incomplete, or without memory since a rank or a later copy took it
 */
public record CopyCounters(long bytesSent, long sent, long brokenOff, long received, long refused) {
}
