package dev.troupe.config.spec.update;

import dev.troupe.config.problem.Word;
import dev.troupe.config.value.Range;
import dev.troupe.config.value.Values;
import java.util.List;
import java.util.Objects;

/**
 * The rule that turns gradients into new weights: the section {@code training.optimizer} of the defaults.
 *
 * @param weightDecay decoupled from the gradient in AdamW, added to it in SGD
 * @param momentum decay of the velocity, with the default of the rule if the key is 0
 */
public record OptimizerSpec(Kind kind, Betas betas, double epsilon, double weightDecay, double momentum,
        boolean nesterov, boolean errorFeedback) {

    private static final String KIND = "training.optimizer.kind";
    private static final String MOMENTUM = "training.optimizer.momentum";
    private static final String NESTEROV = "training.optimizer.nesterov";

    /** As the optimizer was published. */
    private static final double MOMENTUM_OF_MUON = 0.95;

    public OptimizerSpec {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(betas, "betas");
    }

    /** Reads the section {@code training.optimizer}, and reports settings of another optimizer. */
    public static OptimizerSpec read(Values values) {
        Kind kind = values.word(KIND, Kind.class, "");
        double momentum = values.decimal(MOMENTUM, Range.FRACTION);
        boolean nesterov = values.flag(NESTEROV);
        if (values.sound(KIND, MOMENTUM) && momentum > 0 && kind == Kind.ADAMW) {
            values.report(MOMENTUM, "0 with " + KIND + " = " + kind.word(), "" + momentum,
                    "leave it out, or set " + KIND + " to sgd or muon");
        }
        boolean isMuon = kind == Kind.MUON;
        if (values.sound(KIND, NESTEROV) && nesterov && isMuon) {
            values.report(NESTEROV, "false with " + KIND + " = muon", "true",
                    "muon looks ahead by itself, so leave it out");
        } else if (values.sound(MOMENTUM, NESTEROV) && nesterov && momentum == 0) {
            values.report(NESTEROV, "false with " + MOMENTUM + " = 0", "true",
                    "it looks one step of the velocity ahead, so set " + MOMENTUM + " too, such as to 0.9");
        }
        List<Double> betas = values.twoFractions("training.optimizer.betas");
        return new OptimizerSpec(kind, new Betas(betas.getFirst(), betas.getLast()),
                values.decimal("training.optimizer.epsilon", Range.POSITIVE),
                values.decimal("training.optimizer.weight-decay", Range.NOT_NEGATIVE),
                isMuon && momentum == 0 ? MOMENTUM_OF_MUON : momentum, nesterov,
                values.flag("training.optimizer.error-feedback"));
    }

    /** The decay of AdamW's running means: of the gradient, and of its square. */
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
