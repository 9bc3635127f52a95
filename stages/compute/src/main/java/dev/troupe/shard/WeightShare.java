package dev.troupe.shard;

/**
 * Weights of a stage of which each data-parallel rank has a share (ZeRO-3).
 *
 * @param layout if they lie
 * @param own this rank's share
 */
record WeightShare(BufferLayout layout, FlatBuffer own) {
}
