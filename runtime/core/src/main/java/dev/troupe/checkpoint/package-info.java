/**
 * Checkpoints on disk: one safetensors file per rank, and a manifest with their checksums that is written last.
 * Straight-line code.
 */
package dev.troupe.checkpoint;
