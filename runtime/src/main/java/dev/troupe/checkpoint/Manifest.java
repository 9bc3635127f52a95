package dev.troupe.checkpoint;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.troupe.machine.CheckpointPart;
import dev.troupe.model.ModelConfig;
import java.util.List;

/** What {@code manifest.json} says. */
record Manifest(@JsonProperty(required = true) int format,
        @JsonProperty(value = "steps_done", required = true) long stepsDone,
        @JsonProperty(required = true) ModelConfig model, @JsonProperty(required = true) List<CheckpointPart> parts) {
    /** The layout of directory and files that this version writes and reads. */
    static final int FORMAT = 1;
}
