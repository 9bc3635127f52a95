package dev.troupe.prepare;

import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.ModelSection;
import dev.troupe.protocol.LossScale;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Section;
import dev.troupe.plan.SizeChecks;
import dev.troupe.plan.UsageException;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.weights.WeightSource;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
record StartingPoint(ModelSpec model, int sequenceLength, WeightSource weights, long stepsDone,
        LossScale lossScale, boolean resumed, List<String> passedOver, Optional<AutoCloseable> files) {
    private static final String SEQUENCE_LENGTH = "sequence-length";

    /**
     * Opens the model of the specification, and checks that the two agree.
     *
     * @param tokenizer
     *            the tokenizer of the run, whose vocabulary a model has that is described without one
     * @throws UsageException
     *             where they do not
     */
    static StartingPoint of(RunSpec spec, Tokenizer tokenizer, Optional<Path> resume) {
        ModelSection section = withVocabulary(spec.model(), tokenizer);
        if (resume.isPresent()) {
            Checkpoint checkpoint = Checkpoint.open(resume.get());
            try {
                return new StartingPoint(checkpoint.model(), sequenceLength(section, checkpoint.model()),
                        checkpoint, checkpoint.stepsDone(), checkpoint.lossScale(), true,
                        checkpoint.passedOver(), Optional.of(checkpoint));
            } catch (UsageException refused) {
                checkpoint.close();
                throw refused;
            }
        }
        return switch (section) {
            case ModelSection.Described described -> {
                ModelSpec model = model(described);
                SizeChecks.requireModel(model);
                yield new StartingPoint(model, model.size(Axis.POSITION),
                        new InitialWeights(model, spec.training().seed()), 0, LossScale.none(0), false,
                        List.of(), Optional.empty());
            }
            case ModelSection.FromDirectory from -> {
                HuggingFaceModel files = HuggingFaceModel.open(from.directory());
                try {
                    yield new StartingPoint(files.spec(), sequenceLength(from, files.spec()), files, 0,
                            LossScale.none(0), false, List.of(),
                            Optional.of(files));
                } catch (UsageException refused) {
                    files.close();
                    throw refused;
                }
            }
        };
    }

    private static ModelSection withVocabulary(ModelSection section, Tokenizer tokenizer) {
        return section instanceof ModelSection.Described described && described.vocabularySize() == 0
                ? described.withVocabulary(tokenizer.vocabularySize())
                : section;
    }

    private static ModelSpec model(ModelSection.Described described) {
        try {
            return ModelFamilies.named(described.family()).read(new Section(described.values()));
        } catch (IllegalArgumentException refused) {
            throw new UsageException(refused.getMessage(), refused);
        }
    }

    private static int sequenceLength(ModelSection asked, ModelSpec model) {
        List<String> wrong = new ArrayList<>();
        Map<String, Object> values = new LinkedHashMap<>(asked.values());
        int longest = model.size(Axis.POSITION);
        int sequenceLength = longest;
        if (asked instanceof ModelSection.FromDirectory from) {
            values.remove(SEQUENCE_LENGTH);
            sequenceLength = from.sequenceLength().orElse(longest);
        }
        asked.familyGiven().ifPresent(family -> compare(wrong, "family", family, model.family().name()));
        values.forEach((key, value) -> compare(wrong, key, value, model.section().values().get(key)));
        if (sequenceLength > longest) {
            wrong.add("model.sequence-length = " + sequenceLength + ", but the model has positions for " + longest);
        }
        if (!wrong.isEmpty()) {
            throw new UsageException("the model that was loaded is not the one the configuration describes: "
                    + String.join("; ", wrong) + ". Leave those keys out to take the model's own");
        }
        return sequenceLength;
    }

    private static void compare(List<String> wrong, String key, Object asked, Object found) {
        if (!asked.toString().equals(String.valueOf(found))) {
            wrong.add("model." + key + " = " + asked + ", but the model has " + found);
        }
    }
}
