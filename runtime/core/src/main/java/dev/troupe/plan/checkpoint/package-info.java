/**
 * Checkpoints on disk, from which a run is prepared and which its ranks write: one safetensors file per rank, a manifest
 * with their checksums that is written last, the files of a model. Straight-line code.
 */
package dev.troupe.plan.checkpoint;
