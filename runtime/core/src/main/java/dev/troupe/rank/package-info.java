/**
 * The resources of a rank: its engine, groups and tensors, its inbox and outbox, telemetry, microbatches, the parts of
 * checkpoints, the routes of copies, the warm-up of a standby. No actor in it.
 */
package dev.troupe.rank;
