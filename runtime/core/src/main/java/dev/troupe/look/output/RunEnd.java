package dev.troupe.look.output;

import java.nio.file.Path;

/** The end of a run, once its last file is written. */
public sealed interface RunEnd {
    /** The run failed. */
    record Failed(String reason) implements RunEnd {
    }

    /** The engine computed nothing, so there is no model and no checkpoint. */
    record WithoutWeights() implements RunEnd {
    }

    /** The run was stopped before the checkpoint of its last steps was written, so there is no model. */
    record CutShort() implements RunEnd {
    }

    /** The run is done, but its model could not be written. */
    record ModelUnwritten(String reason) implements RunEnd {
    }

    /**
     * The run is done, or was stopped after a step, and its model is written.
     *
     * @param model the directory of the model, in Hugging Face layout
     * @param checkpoint the checkpoint of its last step
     */
    record Written(Path model, Path checkpoint) implements RunEnd {
    }
}
