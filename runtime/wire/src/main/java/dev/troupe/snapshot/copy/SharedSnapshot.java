package dev.troupe.snapshot.copy;

/**
 * The location of a snapshot's memory, for other processes of the same machine and user.
 *
 * @param process the process that owns the memory
 * @param descriptor the file descriptor of the memory in that process
 * @param token distinguishes the memory from any other
 */
public record SharedSnapshot(long process, int descriptor, long token) {
}
