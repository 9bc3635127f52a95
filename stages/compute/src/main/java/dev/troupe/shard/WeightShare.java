package dev.troupe.shard;

/**
 * The weights of a stage if data-parallel ranks divide them (ZeRO-3).
 * @param layout their places
 * @param own this rank's share
 */
record WeightShare(BufferLayout layout, FlatBuffer own) {
}
