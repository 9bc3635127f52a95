package dev.troupe.look.output;

import dev.troupe.look.publish.ModelExport;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.RunCompanions;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.weights.WeightSource;
import dev.troupe.weights.huggingface.HuggingFaceWriter;
import dev.troupe.weights.peft.AdaptedWeights;
import java.nio.file.Path;
import java.util.Optional;

/** The model of a run, assembled from a checkpoint. */
public final class TrainedModel {
    private TrainedModel() {
    }

    /**
     * Writes the model of a checkpoint in Hugging Face layout and the precision of the training, with the files of its
     * tokenizer. If the run trains adapters, it writes only these.
     */
    public static void export(PreparedRun run, Path checkpoint, Path directory) {
        try (Checkpoint weights = Checkpoint.open(checkpoint)) {
            if (run.model().lora().isPresent()) {
                Optional<String> base = run.spec().model().directory().map(Path::toString);
                ModelExport.adapters(weights, directory, base, run.spec().training().lora().dropout());
            } else {
                ModelExport.huggingFace(weights.model(), weights, weights.parameterType(), directory,
                        HuggingFaceWriter.USUAL_SHARD_BYTES,
                        RunCompanions.in(run.request().output()).directory());
            }
        }
    }

    /** Returns all weights of the model; a checkpoint of adapters has only the adapters. */
    public static WeightSource whole(PreparedRun run, Checkpoint weights) {
        return run.model().lora().isPresent()
                ? new AdaptedWeights(run.model(), run.start().weights(), weights)
                : weights;
    }
}
