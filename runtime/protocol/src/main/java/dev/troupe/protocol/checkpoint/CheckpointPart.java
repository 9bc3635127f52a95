package dev.troupe.protocol.checkpoint;

/**
 * One file of a checkpoint, as its writer left it.
 *
 * @param sha256 its checksum, in hexadecimal
 */
public record CheckpointPart(String file, long byteCount, String sha256) {
}
