package dev.troupe.protocol;

/** A state of the run that can be gone on from: after so many steps, with this scale for the next. */
public record Commit(long stepsDone, LossScale lossScale) {
}
