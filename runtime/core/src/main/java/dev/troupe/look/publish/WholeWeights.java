package dev.troupe.look.publish;

import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.CheckpointException;
import dev.troupe.plan.checkpoint.RunConfig;
import dev.troupe.weights.WeightSource;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import dev.troupe.weights.peft.AdaptedWeights;
import dev.troupe.weights.peft.MergedWeights;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The weights of a checkpoint as a whole model: if the run trained adapters, they are merged into the base model. Thread
 * rule: any thread may read it.
 *
 * @param model the model, without adapters
 * @param base the files of the base model, if they are open
 */
public record WholeWeights(ModelSpec model, WeightSource weights,
        Optional<HuggingFaceModel> base) implements AutoCloseable {
    /**
     * Opens the weights; the caller still closes the checkpoint.
     *
     * @throws dev.troupe.weights.WeightException if the base model cannot be read
     * @throws CheckpointException if the adapters belong to another base model
     */
    public static WholeWeights of(Checkpoint checkpoint) {
        ModelSpec adapted = checkpoint.model();
        if (adapted.lora().isEmpty()) {
            return new WholeWeights(adapted, checkpoint, Optional.empty());
        }
        RunConfig config = RunConfig.in(Checkpoint.runDirectoryOf(checkpoint.directory()));
        Optional<Path> from = config.modelFrom();
        if (from.isEmpty()) {
            if (config.text("training.seed").isEmpty()) {
                throw new CheckpointException(checkpoint.directory() + " has adapters alone, and no config.conf of its"
                        + " run names their model: put the checkpoint back into the directory of its run");
            }
            InitialWeights drawn = new InitialWeights(adapted.base(), Long.parseLong(config.text("training.seed")));
            requireSame(checkpoint, drawn.identity(), "training.seed");
            return merged(checkpoint, drawn, Optional.empty());
        }
        HuggingFaceModel base = HuggingFaceModel.open(from.get());
        if (!base.spec().equals(adapted.base())) {
            base.close();
            throw new CheckpointException(checkpoint.directory() + " has adapters for " + adapted.base().summary()
                    + ", but " + from.get() + ", from which the run began, has " + base.spec().summary()
                    + ": put the model back that it began from");
        }
        try {
            requireSame(checkpoint, base.identity(), from.get().toString());
        } catch (CheckpointException other) {
            base.close();
            throw other;
        }
        return merged(checkpoint, base, Optional.of(base));
    }

    private static void requireSame(Checkpoint checkpoint, String found, String where) {
        String expected = checkpoint.model().lora().orElseThrow().base();
        if (!found.equals(expected)) {
            throw new CheckpointException(
                    checkpoint.directory() + " has adapters for other weights of the same shape: those"
                            + " had the identity " + expected + ", and the ones of " + where + " have " + found
                            + ": put the weights back that the run began from");
        }
    }

    private static WholeWeights merged(Checkpoint checkpoint, WeightSource base, Optional<HuggingFaceModel> files) {
        ModelSpec adapted = checkpoint.model();
        return new WholeWeights(adapted.base(),
                new MergedWeights(adapted, new AdaptedWeights(adapted, base, checkpoint)), files);
    }

    @Override
    public void close() {
        base.ifPresent(HuggingFaceModel::close);
    }
}
