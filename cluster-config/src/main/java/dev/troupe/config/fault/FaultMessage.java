package dev.troupe.config.fault;

import dev.troupe.config.problem.Word;

/** The content of a message between two ranks. */
public enum FaultMessage implements Word {
    /** The output of a stage, for the next one. */
    ACTIVATION("activation"),
    /** The gradient for the output of a stage, back to it. */
    GRADIENT("gradient"),
    /** The gradient of a tied embedding, between the ranks at the two ends. */
    TIED_GRADIENT("tied-gradient");

    private final String word;

    FaultMessage(String word) {
        this.word = word;
    }

    @Override
    public String word() {
        return word;
    }
}
