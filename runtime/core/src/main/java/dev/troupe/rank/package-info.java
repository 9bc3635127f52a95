/**
 * The resources of a rank: engine, groups, tensors, inbox and outbox, telemetry, microbatches, checkpoint parts, the routes
 * of copies, and the warm-up of a standby. It has no actor.
 */
package dev.troupe.rank;
