package dev.troupe.snapshot.copy;

/**
 * The counts of a node's snapshot copies since its start.
 *
 * @param bytesSent bytes sent to other nodes, also of snapshots that were broken off, with the headers of frames
 * @param sent snapshots that were sent whole, or shared
 * @param brokenOff snapshots that were overwritten, or lost their receiver, before they were sent whole
 * @param received snapshots that were received whole, or mapped
 * @param refused copies that were refused: damaged or incomplete ones, and copies without memory, which went to a rank or a
 *     later copy
 */
public record CopyCounters(long bytesSent, long sent, long brokenOff, long received, long refused) {
}
