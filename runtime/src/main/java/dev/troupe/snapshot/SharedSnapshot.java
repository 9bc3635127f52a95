package dev.troupe.snapshot;

/**
 * Where the memory of a snapshot is, for other processes of the same machine and user.
 *
 * @param process
 *            whose it is
 * @param descriptor
 *            under which that process has it open
 * @param token
 *            by which it is told from any other memory
 */
public record SharedSnapshot(long process, int descriptor, long token) {
}
