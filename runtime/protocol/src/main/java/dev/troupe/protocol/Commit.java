package dev.troupe.protocol;

/** A state from which a run can continue: after {@code stepsDone} steps, with this scale for the next. */
public record Commit(long stepsDone, LossScale lossScale) {
}
