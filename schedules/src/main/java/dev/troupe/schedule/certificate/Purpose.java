package dev.troupe.schedule.certificate;

/** What a plan is for, and so what must be in it. */
public enum Purpose {
    /** A training step: a forward and a backward for every stage and microbatch. */
    TRAINING,
    /** A validation loss: a forward for every stage and microbatch, and no backward. */
    FORWARD_ONLY
}
