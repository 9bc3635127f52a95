package dev.troupe.protocol.checkpoint;

/**
 * A checkpoint after a number of steps, begun in this epoch. If the run goes back and reaches the same step again, or
 * continues under another coordinator, the epoch is a later one.
 */
public record CheckpointAttempt(long stepsDone, int epoch, CheckpointWay way) {
}
