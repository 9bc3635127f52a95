package dev.troupe.protocol.checkpoint;

/**
 * A checkpoint after a number of steps, begun in this epoch. If the run goes back and comes to the same step again, or
 * continues under another coordinator, that is in a later epoch.
 */
public record CheckpointAttempt(long stepsDone, int epoch, CheckpointWay way) {
}
