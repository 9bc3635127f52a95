package dev.troupe.optimizer;

import dev.troupe.layer.Half;

/**
 * The learning rate of each step. Steps k count from 0. All schedules have the same warm-up: for k below {@code warmupSteps}
 * the rate is {@code peak (k + 1) / warmupSteps}, so the last step of the warm-up has the peak.
 */
public sealed interface LearningRate {
    /** Returns the rate of step {@code step}, which is at least 0. */
    double at(long step);

    /**
     * The peak after the warm-up, forever.
     * @param warmupSteps steps of the warm-up, 0 for none
     */
    record Constant(double peak, long warmupSteps) implements LearningRate {
        public Constant {
            check(peak, 0, warmupSteps);
        }

        @Override
        public double at(long step) {
            return step < warmupSteps ? warmUp(peak, step, warmupSteps) : peak;
        }
    }

    /**
     * Half a cosine from peak to minimum (Loshchilov and Hutter 2017). From the end of the warm-up to step
     * {@code decaySteps} the rate is {@code minimum + (peak - minimum) (1 + cos(pi d)) / 2} with
     * {@code d = (k - warmupSteps) / (decaySteps - warmupSteps)}, and the minimum from then on.
     *
     * @param minimum the lowest, at most the peak
     * @param warmupSteps steps of the warm-up, 0 for none
     * @param decaySteps the first step with the minimum, counted from the start of the run, so including the warm-up; at
     *     least 1. If it is within the warm-up, the minimum follows the warm-up
     */
    record Cosine(double peak, double minimum, long warmupSteps, long decaySteps) implements LearningRate {
        public Cosine {
            check(peak, minimum, warmupSteps);
            checkDecay(decaySteps);
        }

        @Override
        public double at(long step) {
            if (step < warmupSteps) {
                return warmUp(peak, step, warmupSteps);
            }
            if (step >= decaySteps) {
                return minimum;
            }
            double decayed = (double) (step - warmupSteps) / (decaySteps - warmupSteps);
            // Not Math: its last bit may differ between machines, and ranks must agree.
            return minimum + (peak - minimum) * (1 + StrictMath.cos(Math.PI * decayed)) / 2;
        }
    }

    /**
     * A straight line from peak to minimum, as BERT was trained (Devlin et al. 2019, appendix A.2). From the end of the
     * warm-up to step {@code decaySteps} the rate is {@code peak - (peak - minimum) d} with {@code d = (k - warmupSteps) /
     * (decaySteps - warmupSteps)}, and the minimum from then on.
     *
     * @param minimum the lowest, at most the peak
     * @param warmupSteps steps of the warm-up, 0 for none
     * @param decaySteps the first step that has the minimum, as in {@link Cosine}
     */
    record Linear(double peak, double minimum, long warmupSteps, long decaySteps) implements LearningRate {
        public Linear {
            check(peak, minimum, warmupSteps);
            checkDecay(decaySteps);
        }

        @Override
        public double at(long step) {
            return step < warmupSteps
                    ? warmUp(peak, step, warmupSteps)
                    : line(peak, minimum, step, warmupSteps, decaySteps);
        }
    }

    /**
     * Warm-up, stable, decay (Hu et al. 2024, MiniCPM, section 4): the peak until step {@code stableSteps}, then down to the
     * minimum. A run of unknown length trains at the peak, and decays from any of its checkpoints. The paper leaves the form
     * of the decay open; here it is a straight line, as in the comparison of Hägele et al. (2024): {@code peak - (peak -
     * minimum) d} with {@code d = (k - stableSteps) / (decaySteps - stableSteps)}, and the minimum from step
     * {@code decaySteps} on.
     *
     * @param minimum the lowest, at most the peak
     * @param warmupSteps steps of the warm-up, 0 for none
     * @param stableSteps the last step that has the peak, counted from the start of the run, so the warm-up is in it
     * @param decaySteps the first step that has the minimum, counted from the start of the run; at least 1. If it is not
     *     beyond {@code stableSteps} the minimum follows the peak at once
     */
    record Wsd(double peak, double minimum, long warmupSteps, long stableSteps,
            long decaySteps) implements LearningRate {
        public Wsd {
            check(peak, minimum, warmupSteps);
            checkDecay(decaySteps);
            if (stableSteps < warmupSteps) {
                throw new IllegalArgumentException("the stable part of a learning rate must end after its "
                        + warmupSteps + " warm-up steps, but found " + stableSteps);
            }
        }

        @Override
        public double at(long step) {
            if (step < warmupSteps) {
                return warmUp(peak, step, warmupSteps);
            }
            return step < stableSteps ? peak : line(peak, minimum, step, stableSteps, decaySteps);
        }
    }

    /** Returns a line from the peak at step {@code from} to the minimum at step {@code to}, and the minimum beyond. */
    private static double line(double peak, double minimum, long step, long from, long to) {
        return step >= to ? minimum : peak - (peak - minimum) * ((double) (step - from) / (to - from));
    }

    private static double warmUp(double peak, long step, long warmupSteps) {
        return peak * (step + 1) / warmupSteps;
    }

    private static void check(double peak, double minimum, long warmupSteps) {
        if (!(peak >= minimum && minimum >= 0 && warmupSteps >= 0)) {
            throw new IllegalArgumentException("a learning rate needs peak >= minimum >= 0 and warm-up steps >= 0, but"
                    + " found " + peak + ", " + minimum + " and " + warmupSteps);
        }
    }

    private static void checkDecay(long decaySteps) {
        if (decaySteps < 1) {
            throw new IllegalArgumentException(
                    "the decay of a learning rate must end at step 1 or later, but found " + decaySteps);
        }
    }
}
