package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import java.util.Objects;

/**
 * The learning rate over the steps of a run.
 *
 * @param schedule its form after the warm-up
 * @param peak rate after the warm-up, at least 0
 * @param minimum rate from step {@code decaySteps} on, at most {@code peak}; constant has no use for it
 * @param warmupSteps steps over which the rate rises linearly to its peak; a shorter run never gets there
 * @param stableSteps step, counted from the start of the run, at which the decay begins; wsd only. Where the
 *     configuration says 0 it is nine tenths of {@code decaySteps} here, rounded down, and at least the warm-up
 * @param decaySteps step, counted from the start of the run, at which the minimum is reached; constant has no use for
 *     it. Where the configuration says 0 it is {@code training.steps} here
 */
public record LearningRateSpec(Schedule schedule, double peak, double minimum, int warmupSteps, int stableSteps,
        int decaySteps) {

    /** Refuses a missing part. */
    public LearningRateSpec {
        Objects.requireNonNull(schedule, "schedule");
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
