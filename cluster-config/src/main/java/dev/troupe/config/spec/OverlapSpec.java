package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import java.util.Objects;

/**
 * The steps of a run whose schedule overlaps them; of no effect under any other.
 *
 * @param flushEvery steps from one flush of the pipeline to the next, where the run commits; 0 for a number that
 *     follows from the run
 * @param updates the place of an update
 * @param warmUp forwards of the warm-up for each rank that follows, 1 or 2
 */
public record OverlapSpec(int flushEvery, Updates updates, int warmUp) {
    /** The values of a run that does not set it. */
    public static final OverlapSpec USUAL = new OverlapSpec(0, Updates.LAZY, 1);

    /** The place of an update in a row. */
    public enum Updates implements Word {
        /** Before the first forward that reads the new weights. */
        LAZY("lazy"),
        /** Behind the last backward of its step. */
        EAGER("eager");

        private final String word;

        Updates(String word) {
            this.word = word;
        }

        @Override
        public String word() {
            return word;
        }
    }

    /** Refuses a missing part. */
    public OverlapSpec {
        Objects.requireNonNull(updates, "updates");
    }
}
