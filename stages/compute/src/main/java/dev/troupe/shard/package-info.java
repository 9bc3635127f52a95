/**
 * Weights and gradients of a stage in flat buffers: the versions of the weights that a stage holds at a time, frozen
 * weights, and the shares of ranks that hold the same weights (ZeRO).
 */
package dev.troupe.shard;
