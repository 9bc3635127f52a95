package dev.troupe.checkpoint;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.troupe.machine.CheckpointPart;
import dev.troupe.machine.LossScale;
import dev.troupe.model.ModelConfig;
import java.util.List;

/** What {@code manifest.json} says. */
record Manifest(@JsonProperty(required = true) int format,
        @JsonProperty(value = "steps_done", required = true) long stepsDone,
        @JsonProperty(required = true) ModelConfig model,
        @JsonProperty(value = "loss_scale", required = true) LossScale lossScale,
        @JsonProperty(required = true) List<CheckpointPart> parts) {
    /** The layout of directory and files that this version writes. */
    static final int FORMAT = 2;
    /** The oldest layout that is read; it has no loss scale. */
    static final int OLDEST_FORMAT = 1;

    Manifest {
        if (stepsDone < 0 || parts.isEmpty()) {
            throw new IllegalArgumentException(
                    "steps_done must be at least 0 and parts at least 1, but found " + stepsDone
                            + " and " + parts.size());
        }
        parts = List.copyOf(parts);
    }
}
