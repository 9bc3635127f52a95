/**
 * What a rank computes and sends with: its engine, groups and tensors, its outbox, the faults and times around an
 * action, its microbatches, the parts of checkpoints, the routes of copies, the warm-up of a standby. No actor in it.
 */
package dev.troupe.rank;
