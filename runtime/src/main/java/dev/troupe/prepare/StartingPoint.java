package dev.troupe.prepare;

import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.ModelSpec;
import dev.troupe.machine.LossScale;
import dev.troupe.model.spec.ModelConfig;
import dev.troupe.plan.SizeChecks;
import dev.troupe.plan.UsageException;
import dev.troupe.weights.HuggingFaceModel;
import dev.troupe.weights.InitialWeights;
import dev.troupe.weights.WeightSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The model a run starts from: drawn from the seed, read from a Hugging Face directory, or taken from a checkpoint.
 *
 * @param model
 *            the shape of the model
 * @param sequenceLength
 *            tokens of a training sequence, at most the model's
 * @param weights
 *            the weights, and from a checkpoint the optimizer's state
 * @param stepsDone
 *            steps done
 * @param lossScale
 *            the loss scale of the checkpoint; none where no step is done
 * @param resumed
 *            whether the model is that of a checkpoint
 * @param passedOver
 *            the damage of each newer checkpoint that was not taken
 * @param files
 *            closed when all ranks have loaded
 */
record StartingPoint(ModelConfig model, int sequenceLength, WeightSource weights, long stepsDone,
        LossScale lossScale, boolean resumed, List<String> passedOver, Optional<AutoCloseable> files) {
    /**
     * Opens the model of the specification, and checks that the two agree.
     *
     * @throws UsageException
     *             where they do not
     */
    static StartingPoint of(RunSpec spec, Optional<Path> resume) {
        if (resume.isPresent()) {
            Checkpoint checkpoint = Checkpoint.open(resume.get());
            try {
                return new StartingPoint(checkpoint.model(), sequenceLength(spec.model(), checkpoint.model()),
                        checkpoint, checkpoint.stepsDone(), checkpoint.lossScale(), true,
                        checkpoint.passedOver(), Optional.of(checkpoint));
            } catch (UsageException refused) {
                checkpoint.close();
                throw refused;
            }
        }
        return switch (spec.model()) {
            case ModelSpec.Described described -> {
                ModelConfig model = new ModelConfig(described.layers(), described.hidden(), described.heads(),
                        described.sequenceLength(), described.vocabularySize(), described.tieEmbeddings(),
                        ModelConfig.NORM_EPSILON);
                SizeChecks.requireModel(model);
                yield new StartingPoint(model, model.sequenceLength(),
                        new InitialWeights(model, spec.training().seed()), 0, LossScale.none(0), false,
                        List.of(), Optional.empty());
            }
            case ModelSpec.FromDirectory from -> {
                HuggingFaceModel files = HuggingFaceModel.open(from.directory());
                try {
                    yield new StartingPoint(files.config(), sequenceLength(from, files.config()), files, 0,
                            LossScale.none(0), false, List.of(),
                            Optional.of(files));
                } catch (UsageException refused) {
                    files.close();
                    throw refused;
                }
            }
        };
    }

    private static int sequenceLength(ModelSpec spec, ModelConfig model) {
        List<String> wrong = new ArrayList<>();
        int sequenceLength = switch (spec) {
            case ModelSpec.Described described -> {
                compare(wrong, "model.layers", OptionalInt.of(described.layers()), model.layers());
                compare(wrong, "model.hidden", OptionalInt.of(described.hidden()), model.hidden());
                compare(wrong, "model.heads", OptionalInt.of(described.heads()), model.heads());
                compare(wrong, "model.sequence-length", OptionalInt.of(described.sequenceLength()),
                        model.sequenceLength());
                compare(wrong, "model.vocabulary-size", OptionalInt.of(described.vocabularySize()),
                        model.vocabularySize());
                compare(wrong, Optional.of(described.tieEmbeddings()), model.tiedEmbeddings());
                yield described.sequenceLength();
            }
            case ModelSpec.FromDirectory from -> {
                compare(wrong, "model.layers", from.layers(), model.layers());
                compare(wrong, "model.hidden", from.hidden(), model.hidden());
                compare(wrong, "model.heads", from.heads(), model.heads());
                compare(wrong, "model.vocabulary-size", from.vocabularySize(), model.vocabularySize());
                compare(wrong, from.tieEmbeddings(), model.tiedEmbeddings());
                int asked = from.sequenceLength().orElse(model.sequenceLength());
                if (asked > model.sequenceLength()) {
                    wrong.add("model.sequence-length = " + asked + ", but the model has positions for "
                            + model.sequenceLength());
                }
                yield asked;
            }
        };
        if (!wrong.isEmpty()) {
            throw new UsageException("the model that was loaded is not the one the configuration describes: "
                    + String.join("; ", wrong) + ". Leave those keys out to take the model's own");
        }
        return sequenceLength;
    }

    private static void compare(List<String> wrong, String key, OptionalInt asked, int found) {
        if (asked.isPresent() && asked.getAsInt() != found) {
            wrong.add(key + " = " + asked.getAsInt() + ", but the model has " + found);
        }
    }

    private static void compare(List<String> wrong, Optional<Boolean> asked, boolean found) {
        if (asked.isPresent() && asked.get() != found) {
            wrong.add("model.tie-embeddings = " + asked.get() + ", but the model has " + found);
        }
    }
}
