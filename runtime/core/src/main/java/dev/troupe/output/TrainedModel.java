package dev.troupe.output;

import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.config.spec.ModelSection;
import dev.troupe.engine.DataType;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.prepare.PreparedRun;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.WeightSource;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import dev.troupe.weights.peft.AdaptedWeights;
import dev.troupe.weights.peft.PeftAdapter;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** The model of a run, assembled from a checkpoint. */
public final class TrainedModel {
    private TrainedModel() {
    }

    /** Writes the model of a run's checkpoint, or its adapter, in Hugging Face layout and the precision of the training. */
    public static void export(PreparedRun run, Path checkpoint, Path directory) {
        try (Checkpoint weights = Checkpoint.open(checkpoint)) {
            if (run.model().lora().isPresent()) {
                Optional<String> base = run.spec().model() instanceof ModelSection.FromDirectory from
                        ? Optional.of(from.directory().toString())
                        : Optional.empty();
                PeftAdapter.write(directory, run.model(), base, run.spec().training().lora().dropout(),
                        tensors(weights, PeftAdapter.trained(run.model())));
            } else {
                export(weights, directory);
            }
        }
    }

    /** Writes the model of a checkpoint in Hugging Face layout, in the precision it was trained in. */
    public static void export(Checkpoint weights, Path directory) {
        HuggingFaceModel.write(directory, weights.model(), tensors(weights, weights.model().parameters().values()));
    }

    private static List<NamedTensor> tensors(Checkpoint weights, Collection<ParameterSpec> parameters) {
        DataType type = weights.parameterType();
        return parameters.stream()
                .map(parameter -> new NamedTensor(parameter.name(), parameter.shape().sizes(), type,
                        target -> weights.read(parameter.name(), parameter.shape().sizes(), type, target)))
                .toList();
    }

    /** Returns all weights of the model of a run, of which a checkpoint of adapters has only these. */
    public static WeightSource whole(PreparedRun run, Checkpoint weights) {
        return run.model().lora().isPresent()
                ? new AdaptedWeights(run.model(), run.weights(), weights)
                : weights;
    }
}
