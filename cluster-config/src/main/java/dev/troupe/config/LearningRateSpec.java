package dev.troupe.config;

import java.util.Objects;

/**
 * The learning rate over the steps of a run.
 *
 * @param schedule its form after the warm-up
 * @param peak rate after the warm-up, at least 0
 * @param minimum rate from step {@code decaySteps} on, at most {@code peak}; cosine only
 * @param warmupSteps steps over which the rate rises linearly to its peak; a shorter run never gets there
 * @param decaySteps step, counted from the start of the run, at which the minimum is reached; cosine only. Where the
 *            configuration says 0 it is {@code training.steps} here
 */
public record LearningRateSpec(Schedule schedule, double peak, double minimum, int warmupSteps, int decaySteps) {

    /** Refuses a missing part. */
    public LearningRateSpec {
        Objects.requireNonNull(schedule, "schedule");
    }

    /** The form of the learning rate after the warm-up. */
    public enum Schedule implements Word {
        /** The peak throughout. */
        CONSTANT("constant"),
        /** Half a cosine from the peak to the minimum. */
        COSINE("cosine");

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
