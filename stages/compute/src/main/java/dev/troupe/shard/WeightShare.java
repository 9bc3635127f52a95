package dev.troupe.shard;

/** The weights of a stage if data-parallel ranks divide them (ZeRO-3). */
record WeightShare(BufferLayout layout, FlatBuffer own) {
}
