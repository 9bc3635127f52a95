package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import java.util.Objects;

/**
 * The rule that turns gradients into new weights.
 *
 * @param kind the rule
 * @param betas decay of the running means; AdamW only
 * @param epsilon term that keeps a division from zero, above 0; AdamW only
 * @param weightDecay decay of tensors of two or more dimensions, at least 0; decoupled from the gradient in AdamW,
 *     added to it in SGD
 * @param momentum what the velocity keeps of itself, at least 0 and below 1; 0 for no velocity; SGD and Muon
 * @param nesterov whether an update looks one step of the velocity ahead; SGD with momentum only
 * @param errorFeedback whether an update also corrects the error that its delay of one step has made
 */
public record OptimizerSpec(Kind kind, Betas betas, double epsilon, double weightDecay, double momentum,
        boolean nesterov, boolean errorFeedback) {

    /** Refuses a missing part. */
    public OptimizerSpec {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(betas, "betas");
    }

    /**
     * Decay of AdamW's running means.
     *
     * @param first of the gradient, at least 0 and below 1
     * @param second of its square, at least 0 and below 1
     */
    public record Betas(double first, double second) {
    }

    /** The rule. */
    public enum Kind implements Word {
        /** Adam with decoupled weight decay (Loshchilov and Hutter 2019). */
        ADAMW("adamw"),
        /** Stochastic gradient descent. */
        SGD("sgd"),
        /** Muon for the matrices of hidden layers, AdamW for all others (Jordan et al. 2024). */
        MUON("muon");

        private final String word;

        Kind(String word) {
            this.word = word;
        }

        @Override
        public String word() {
            return word;
        }
    }
}
