/**
 * The resources of a rank: engine, tensors, inbox and outbox, telemetry, microbatches, checkpoint parts, and the warm-up of
 * a standby. It has no actor.
 */
package dev.troupe.rank;
