/** Tests of checkpoints: written, read back, damaged in every way. */
package dev.troupe.plan.checkpoint;
