package dev.troupe.engine.provider;

/** The work of a stage on its engine, for engines that keep time instead of computing. */
public enum Work {
    /** The forward of one microbatch. */
    FORWARD,
    /** The backward of one microbatch for the input. */
    BACKWARD_INPUT,
    /** The backward of one microbatch for the weights. */
    BACKWARD_WEIGHT,
    /** Both backwards of one microbatch, layer by layer. */
    BACKWARD,
    /** The forward of one microbatch again, before its gradient arrives. */
    RECOMPUTE,
    /** The weight update at the end of a step. */
    UPDATE
}
