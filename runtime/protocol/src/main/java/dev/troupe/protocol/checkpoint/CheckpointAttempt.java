package dev.troupe.protocol.checkpoint;

/**
 * An attempt to write the checkpoint of a commit. Its epoch distinguishes it from an earlier attempt at the same step,
 * before the run went back or continued under another coordinator.
 */
public record CheckpointAttempt(long stepsDone, int epoch, CheckpointWay way) {
}
