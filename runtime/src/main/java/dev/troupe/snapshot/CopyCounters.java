package dev.troupe.snapshot;

/**
 * What a node has copied since its start.
 *
 * @param bytesSent
 *            to other nodes, of snapshots that were broken off too, with the headers of frames
 * @param sent
 *            snapshots that went out whole, or were shared
 * @param brokenOff
 *            snapshots that were written over, or whose receiver went away, before they were out
 * @param received
 *            snapshots that came in whole, or were mapped
 * @param refused
 *            what came in and was none: damaged, or not to its end
 */
public record CopyCounters(long bytesSent, long sent, long brokenOff, long received, long refused) {
}
