package dev.troupe.shard;

/**
 * Weights of a stage that data-parallel ranks share out (ZeRO-3).
 *
 * @param layout their places
 * @param own this rank's share
 */
record WeightShare(BufferLayout layout, FlatBuffer own) {
}
