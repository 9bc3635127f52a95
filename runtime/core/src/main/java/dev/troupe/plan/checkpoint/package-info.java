/**
 * Checkpoints on disk: one safetensors file per rank, a manifest with their checksums, which is written last, and the files
 * of a model. Straight-line code.
 */
package dev.troupe.plan.checkpoint;
