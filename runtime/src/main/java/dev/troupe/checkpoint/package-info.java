/**
 * Checkpoints on disk: one safetensors file per rank, and a manifest with their checksums that is written last. Straight-line
 * code; imports {@code dev.troupe.weights}, {@code dev.troupe.model} and Jackson.
 */
package dev.troupe.checkpoint;
