package dev.troupe.config.fault;

import dev.troupe.config.problem.Word;

/**
 * A point of a training step. A fault strikes there before the rank begins the work that the point names. A pass over
 * validation data has no points.
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
    /** The repeated forward of a microbatch, before its gradient arrives. */
    RECOMPUTE("recompute", true),
    /** The handover of an activation or a gradient to the transport; for a message, its way to the next rank. */
    SEND("send", true),
    /** The receipt of an activation or a gradient from another stage. */
    RECEIVE("receive", true),
    /** The exchange of tied gradients, and the norm and sum of gradients, at the end of the row. */
    REDUCE("reduce", false),
    /** The update of the weights. */
    OPTIMIZER("optimizer", false),
    /** The snapshot of the weights of the step, from which a restart begins. */
    COMMIT("commit", false),
    /** The write of the rank's part of a checkpoint; its step is the last one in the checkpoint. */
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

    /** Returns whether a rank passes the point once for each microbatch. */
    public boolean hasMicrobatch() {
        return hasMicrobatch;
    }

    /** Returns whether a rank sends or receives a message at the point. */
    public boolean isOfMessage() {
        return this == SEND || this == RECEIVE;
    }
}
