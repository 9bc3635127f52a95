package dev.troupe.config.spec;

import dev.troupe.config.value.Values;
import java.time.Duration;
import java.util.Objects;

/**
 * The checkpoints and validation passes after the commits of a run.
 *
 * @param validationMicrobatches maximum number of microbatches of a measurement in each pipeline
 */
public record CommitSpec(int checkpointEvery, Duration checkpointInterval, int keepCheckpoints, int validateEvery,
        int validationMicrobatches) {
    private static final int MAX = Integer.MAX_VALUE;
    // The plan of a validation pass is made and checked as a whole, like the plan of a step.
    private static final int MOST_VALIDATION_MICROBATCHES = 65536;

    public CommitSpec {
        Objects.requireNonNull(checkpointInterval, "checkpointInterval");
    }

    static CommitSpec read(Values values) {
        return new CommitSpec(values.integer("training.checkpoint-every", 0, MAX),
                values.duration("training.checkpoint-interval", Duration.ZERO, Duration.ofDays(365)),
                values.integer("training.keep-checkpoints", 0, MAX), values.integer("training.validate-every", 0, MAX),
                values.integer("training.validation-microbatches", 1, MOST_VALIDATION_MICROBATCHES));
    }
}
