package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import dev.troupe.config.value.Values;
import java.util.List;
import java.util.Objects;

/**
 * The settings of schedules with overlapping steps; other schedules ignore them.
 *
 * @param flushEvery steps from one flush of the pipeline to the next; 0: a number that follows from the run
 * @param replicas the ranks of each stage; empty for one each
 */
public record OverlapSpec(int flushEvery, Updates updates, int warmUp, List<Integer> replicas) {
    // Every process has the actions of all steps from one flush of the pipeline to the next.
    private static final int MOST_STEPS_PER_FLUSH = 1024;

    /** The place of an update in a row. */
    public enum Updates implements Word {
        /** Before the first forward that reads the new weights. */
        LAZY("lazy"),
        /** After the last backward of its step. */
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

    public OverlapSpec {
        Objects.requireNonNull(updates, "updates");
        replicas = List.copyOf(replicas);
    }

    static OverlapSpec read(Values values, List<Integer> replicas) {
        return new OverlapSpec(values.integer("parallel.flush-every", 0, MOST_STEPS_PER_FLUSH),
                values.word("parallel.updates", Updates.class, ""), values.integer("parallel.warm-up", 1, 2),
                replicas);
    }
}
