package dev.troupe.config.spec.update;

import dev.troupe.config.problem.Word;
import dev.troupe.config.value.Range;
import dev.troupe.config.value.Values;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * The learning rate over the steps of a run: the section {@code training.learning-rate} of the defaults.
 *
 * @param stableSteps step, counted from the start of the run, at which the decay begins; wsd only. If the key is 0, nine
 *     tenths of {@code decaySteps}, rounded down, and at least the warm-up
 * @param decaySteps step, counted from the start of the run, at which the minimum is reached. If the key is 0,
 *     {@code training.steps}
 */
public record LearningRateSpec(Schedule schedule, double peak, double minimum, int warmupSteps, int stableSteps,
        int decaySteps) {

    private static final String SCHEDULE = "training.learning-rate.schedule";
    private static final String PEAK = "training.learning-rate.peak";
    private static final String MINIMUM = "training.learning-rate.minimum";
    private static final String WARMUP = "training.learning-rate.warmup-steps";
    private static final String STABLE = "training.learning-rate.stable-steps";
    private static final String DECAY = "training.learning-rate.decay-steps";
    private static final int MAX = Integer.MAX_VALUE;

    public LearningRateSpec {
        Objects.requireNonNull(schedule, "schedule");
    }

    /**
     * Reads the section {@code training.learning-rate}, and reports values that contradict each other.
     *
     * @param steps steps of the run, the default end of a decay
     */
    public static LearningRateSpec read(Values values, int steps) {
        Schedule schedule = values.word(SCHEDULE, Schedule.class, "");
        double peak = values.decimal(PEAK, Range.NOT_NEGATIVE);
        double minimum = values.decimal(MINIMUM, Range.NOT_NEGATIVE);
        int givenStableSteps = values.integer(STABLE, 0, MAX);
        int givenDecaySteps = values.integer(DECAY, 0, MAX);
        int warmupSteps = warmupSteps(values, givenStableSteps, givenDecaySteps);
        int decaySteps = givenDecaySteps == 0 ? steps : givenDecaySteps;
        int stableSteps = givenStableSteps == 0
                ? Math.max(warmupSteps, (int) (decaySteps * 9L / 10))
                : givenStableSteps;
        boolean decays = values.sound(SCHEDULE) && schedule != Schedule.CONSTANT;
        if (decays && values.sound(PEAK, MINIMUM) && minimum > peak) {
            values.report(MINIMUM, "at most the peak, which is " + peak, "" + minimum,
                    "set it below the peak, or the schedule to constant");
        }
        // A short run may end in its warm-up or before its decay, but an explicit end of the decay must be after both.
        boolean isDecayAskedFor = decays && values.sound(WARMUP, DECAY, "training.steps") && decaySteps != steps;
        if (isDecayAskedFor && decaySteps < warmupSteps) {
            values.report(DECAY, "at least the " + warmupSteps + " warm-up steps, which it includes",
                    "" + decaySteps, "set it to 0 to decay until the last step");
        }
        if (schedule == Schedule.WSD && givenStableSteps != 0
                && values.sound(SCHEDULE, WARMUP, STABLE, DECAY, "training.steps")) {
            if (stableSteps < warmupSteps) {
                values.report(STABLE, "at least the " + warmupSteps + " warm-up steps, which it includes",
                        "" + stableSteps, "set it to 0 to decay in the last tenth");
            } else if (isDecayAskedFor && stableSteps > decaySteps) {
                values.report(STABLE, "at most the " + decaySteps + " steps of " + DECAY + ", at which the decay ends",
                        "" + stableSteps, "set it to 0 to decay in the last tenth");
            }
        }
        values.settle(WARMUP, warmupSteps);
        values.settle(STABLE, stableSteps);
        values.settle(DECAY, decaySteps);
        return new LearningRateSpec(schedule, peak, minimum, warmupSteps, stableSteps, decaySteps);
    }

    /** Returns the steps of the warm-up; by default none with a given peak, and no more than a stable part or decay has. */
    private static int warmupSteps(Values values, int stableSteps, int decaySteps) {
        int steps = values.integer(WARMUP, 0, MAX);
        if (values.isGiven(WARMUP)) {
            return steps;
        }
        return values.isGiven(PEAK)
                ? 0
                : IntStream.of(stableSteps, decaySteps).filter(end -> end > 0).reduce(steps, Math::min);
    }

    /** The form of the learning rate after the warm-up. */
    public enum Schedule implements Word {
        /** The peak throughout. */
        CONSTANT("constant"),
        /** Half a cosine from the peak to the minimum. */
        COSINE("cosine"),
        /** A straight line from the peak to the minimum. */
        LINEAR("linear"),
        /** The peak for most of the run, then a straight line to the minimum: warm-up, stable, decay. */
        WSD("wsd");

        private final String word;

        Schedule(String word) {
            this.word = word;
        }

        @Override
        public String word() {
            return word;
        }
    }
}
