package dev.troupe.config.fault;

import dev.troupe.config.problem.Word;

/**
 * A point of a training step, at which a fault strikes before the rank begins the work that the point names. A pass
 * over validation data has no points.
 */
public enum FaultPoint implements Word {
    /** The forward of a microbatch. */
    FORWARD("F", true),
    /** The half of a backward that makes the gradient of the input. */
    BACKWARD_INPUT("I", true),
    /** The half of a backward that makes the gradients of the weights. */
    BACKWARD_WEIGHT("W", true),
    /** A backward that is not split. */
    BACKWARD("B", true),
    /** The forward of a microbatch again, before its gradient arrives. */
    RECOMPUTE("recompute", true),
    /** Handing an activation or a gradient to the transport; of a message, its way to the next rank. */
    SEND("send", true),
    /** Taking an activation or a gradient of another stage. */
    RECEIVE("receive", true),
    /** Exchanging tied gradients, and measuring and adding up gradients, at the end of the row. */
    REDUCE("reduce", false),
    /** The update of the weights. */
    OPTIMIZER("optimizer", false),
    /** Keeping the weights of the step as the snapshot that a restart begins with. */
    COMMIT("commit", false),
    /** Writing the rank's part of a checkpoint; its step is the last that the checkpoint holds. */
    CHECKPOINT("checkpoint", false);

    private final String word;
    private final boolean hasMicrobatch;

    FaultPoint(String word, boolean hasMicrobatch) {
        this.word = word;
        this.hasMicrobatch = hasMicrobatch;
    }

    @Override
    public String word() {
        return word;
    }

    /** Whether a rank passes the point once for each microbatch. */
    public boolean hasMicrobatch() {
        return hasMicrobatch;
    }

    /** Whether a rank sends or receives a message at the point. */
    public boolean isOfMessage() {
        return this == SEND || this == RECEIVE;
    }
}
