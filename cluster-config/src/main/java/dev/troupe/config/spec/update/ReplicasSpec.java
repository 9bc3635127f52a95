package dev.troupe.config.spec.update;

import dev.troupe.config.problem.Word;
import dev.troupe.config.value.Range;
import dev.troupe.config.value.Values;
import java.util.Objects;

/**
 * The replicas that exchange weights rarely, in place of gradients in each step: the section {@code training.replicas} of
 * the defaults.
 *
 * @param innerSteps H, the steps of a replica from one outer step to the next
 */
public record ReplicasSpec(Mode mode, int innerSteps, double outerLearningRate, double outerMomentum) {
    private static final String MODE = "training.replicas.mode";
    private static final String INNER_STEPS = "training.replicas.inner-steps";

    public ReplicasSpec {
        Objects.requireNonNull(mode, "mode");
    }

    /**
     * Reads the section {@code training.replicas}, and reports steps that end between two outer steps.
     *
     * @param steps steps of the run
     */
    public static ReplicasSpec read(Values values, int steps) {
        Mode mode = values.word(MODE, Mode.class, "");
        int innerSteps = values.integer(INNER_STEPS, 1, Integer.MAX_VALUE);
        if (mode != Mode.NONE && values.sound(INNER_STEPS, "training.steps") && steps % innerSteps != 0) {
            values.report(INNER_STEPS, "a divisor of training.steps = " + steps
                    + ", since the replicas have one model only after an outer step", "" + innerSteps,
                    "change one of them");
        }
        return new ReplicasSpec(mode, innerSteps,
                values.decimal("training.replicas.outer-learning-rate", Range.POSITIVE),
                values.decimal("training.replicas.outer-momentum", Range.FRACTION));
    }

    /** Returns the section in words. */
    public String text() {
        return switch (mode) {
            case NONE -> mode.word();
            case DILOCO -> mode.word() + ", " + innerSteps + " inner steps, outer rate " + outerLearningRate
                    + ", outer momentum " + outerMomentum;
        };
    }

    /** The ways to train replicas. */
    public enum Mode implements Word {
        /** Ranks add up their gradients in each step. */
        NONE("none"),
        /** Inner steps without exchange, and an outer Nesterov step (Douillard et al. 2023). */
        DILOCO("diloco");

        private final String word;

        Mode(String word) {
            this.word = word;
        }

        @Override
        public String word() {
            return word;
        }
    }
}
