package dev.troupe.schedule.certificate;

/** The purpose of a plan, from which its necessary actions follow. */
public enum Purpose {
    /** A training step: a forward and a backward for every stage and microbatch. */
    TRAINING,
    /** A validation loss: a forward for every stage and microbatch, and no backward. */
    FORWARD_ONLY
}
