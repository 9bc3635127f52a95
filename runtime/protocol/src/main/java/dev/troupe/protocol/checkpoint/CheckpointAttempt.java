package dev.troupe.protocol.checkpoint;

/**
 * A checkpoint that is written beside training: the one after so many steps, begun in this epoch. Where the run goes
 * back and comes to the same step again, or goes on under another coordinator, that is in a later epoch.
 */
public record CheckpointAttempt(long stepsDone, int epoch) {
}
