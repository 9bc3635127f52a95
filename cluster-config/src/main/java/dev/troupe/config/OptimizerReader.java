package dev.troupe.config;

import dev.troupe.config.spec.OptimizerSpec;

/** Reads the section {@code training.optimizer}. */
final class OptimizerReader {
    private static final String KIND = "training.optimizer.kind";
    private static final String MOMENTUM = "training.optimizer.momentum";
    private static final String NESTEROV = "training.optimizer.nesterov";

    /** As the optimizer was published. */
    private static final double MOMENTUM_OF_MUON = 0.95;

    private OptimizerReader() {
    }

    /** Reads the section and reports settings of another optimizer than the one that is asked for. */
    static OptimizerSpec read(Values values) {
        OptimizerSpec.Kind kind = values.word(KIND, OptimizerSpec.Kind.class, "");
        double momentum = values.decimal(MOMENTUM, Range.FRACTION);
        boolean nesterov = values.flag(NESTEROV);
        if (values.sound(KIND, MOMENTUM) && momentum > 0 && kind == OptimizerSpec.Kind.ADAMW) {
            values.report(MOMENTUM, "0 with " + KIND + " = " + kind.word(), "" + momentum,
                    "leave it out, or set " + KIND + " to sgd or muon");
        }
        boolean isMuon = kind == OptimizerSpec.Kind.MUON;
        if (values.sound(KIND, NESTEROV) && nesterov && isMuon) {
            values.report(NESTEROV, "false with " + KIND + " = muon", "true",
                    "muon looks ahead by itself, so leave it out");
        } else if (values.sound(MOMENTUM, NESTEROV) && nesterov && momentum == 0) {
            values.report(NESTEROV, "false with " + MOMENTUM + " = 0", "true",
                    "it looks one step of the velocity ahead, so set " + MOMENTUM + " too, such as to 0.9");
        }
        return new OptimizerSpec(kind, values.betas("training.optimizer.betas"),
                values.decimal("training.optimizer.epsilon", Range.POSITIVE),
                values.decimal("training.optimizer.weight-decay", Range.NOT_NEGATIVE),
                isMuon && momentum == 0 ? MOMENTUM_OF_MUON : momentum, nesterov,
                values.flag("training.optimizer.error-feedback"));
    }
}
