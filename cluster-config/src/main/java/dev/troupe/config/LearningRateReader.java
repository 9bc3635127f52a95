package dev.troupe.config;

import dev.troupe.config.spec.LearningRateSpec;
import java.util.stream.IntStream;

/** Reads the section {@code training.learning-rate}. */
final class LearningRateReader {
    private static final String SCHEDULE = "training.learning-rate.schedule";
    private static final String PEAK = "training.learning-rate.peak";
    private static final String MINIMUM = "training.learning-rate.minimum";
    private static final String WARMUP = "training.learning-rate.warmup-steps";
    private static final String STABLE = "training.learning-rate.stable-steps";
    private static final String DECAY = "training.learning-rate.decay-steps";
    private static final int MAX = Integer.MAX_VALUE;

    private LearningRateReader() {
    }

    /**
     * Reads the section and reports values that contradict each other.
     *
     * @param steps steps of the run, the default end of a decay
     */
    static LearningRateSpec read(Values values, int steps) {
        LearningRateSpec.Schedule schedule = values.word(SCHEDULE, LearningRateSpec.Schedule.class, "");
        double peak = values.decimal(PEAK, Range.NOT_NEGATIVE);
        double minimum = values.decimal(MINIMUM, Range.NOT_NEGATIVE);
        int givenStableSteps = values.integer(STABLE, 0, MAX);
        int givenDecaySteps = values.integer(DECAY, 0, MAX);
        int warmupSteps = warmupSteps(values, givenStableSteps, givenDecaySteps);
        int decaySteps = givenDecaySteps == 0 ? steps : givenDecaySteps;
        int stableSteps = givenStableSteps == 0
                ? Math.max(warmupSteps, (int) (decaySteps * 9L / 10))
                : givenStableSteps;
        boolean decays = values.sound(SCHEDULE) && schedule != LearningRateSpec.Schedule.CONSTANT;
        if (decays && values.sound(PEAK, MINIMUM) && minimum > peak) {
            values.report(MINIMUM, "at most the peak, which is " + peak, "" + minimum,
                    "set it below the peak, or the schedule to constant");
        }
        // A run may end inside its warm-up, or before its decay, where its steps alone make it so; an explicit end of
        // the decay must lie after both.
        boolean isDecayAskedFor = decays && values.sound(WARMUP, DECAY, "training.steps") && decaySteps != steps;
        if (isDecayAskedFor && decaySteps < warmupSteps) {
            values.report(DECAY, "at least the " + warmupSteps + " warm-up steps, which it includes",
                    "" + decaySteps, "set it to 0 to decay until the last step");
        }
        if (schedule == LearningRateSpec.Schedule.WSD && givenStableSteps != 0
                && values.sound(SCHEDULE, WARMUP, STABLE, DECAY, "training.steps")) {
            if (stableSteps < warmupSteps) {
                values.report(STABLE, "at least the " + warmupSteps + " warm-up steps, which it includes",
                        "" + stableSteps, "set it to 0 to decay in the last tenth");
            } else if (isDecayAskedFor && stableSteps > decaySteps) {
                values.report(STABLE, "at most the " + decaySteps + " steps of " + DECAY + ", at which the decay ends",
                        "" + stableSteps, "set it to 0 to decay in the last tenth");
            }
        }
        return new LearningRateSpec(schedule, peak, minimum, warmupSteps, stableSteps, decaySteps);
    }

    /**
     * Returns the steps of the warm-up. The default belongs to the default peak, so a peak that is given has none unless
     * one is given too; and the default gives way to the end of a stable part or of a decay.
     */
    private static int warmupSteps(Values values, int stableSteps, int decaySteps) {
        int steps = values.integer(WARMUP, 0, MAX);
        if (values.isGiven(WARMUP)) {
            return steps;
        }
        return values.isGiven(PEAK)
                ? 0
                : IntStream.of(stableSteps, decaySteps).filter(end -> end > 0).reduce(steps, Math::min);
    }
}
