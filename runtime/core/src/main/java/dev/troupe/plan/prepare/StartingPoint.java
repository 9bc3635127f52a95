package dev.troupe.plan.prepare;

import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.LoraSpec;
import dev.troupe.config.spec.ModelSection;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.Section;
import dev.troupe.plan.SizeChecks;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.protocol.LossScale;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.weights.WeightSource;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import dev.troupe.weights.peft.AdaptedWeights;
import dev.troupe.weights.peft.PeftAdapter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * The model from which a run starts: drawn from the seed, read from a Hugging Face directory, or taken from a checkpoint.
 *
 * @param sequenceLength tokens of a training sequence, at most the model's
 * @param weights the weights, and from a checkpoint the optimizer's state
 * @param lossScale the loss scale of the checkpoint; none if no step is done
 * @param resumed whether the model comes from a checkpoint
 * @param passedOver the damage of each newer checkpoint that was skipped
 * @param identity distinguishes the first weights from others of the same model; covers adapters and the frozen weights
 * @param files the files of the weights, open until the run is over: a restarted rank reads frozen weights
 */
public record StartingPoint(ModelSpec model, int sequenceLength, WeightSource weights, long stepsDone,
        LossScale lossScale, boolean resumed, List<String> passedOver, String identity,
        List<AutoCloseable> files) {
    /** The default tokens of a sequence; a published model may have more positions than fit in memory. */
    private static final int USUAL_LENGTH = 2048;
    private static final String SEQUENCE_LENGTH = "sequence-length";

    /**
     * Opens the model of the specification, and checks that the two agree.
     *
     * @param tokenizer the tokenizer of the run; its vocabulary is used if the model's description has none
     * @throws UsageException if they do not
     */
    static StartingPoint of(RunSpec spec, Tokenizer tokenizer, Optional<Path> resume) {
        ModelSection section = spec.model().withVocabulary(tokenizer.vocabularySize());
        List<AutoCloseable> files = new ArrayList<>();
        try {
            if (resume.isPresent()) {
                return resumed(spec, section, resume.get(), files);
            }
            StartingPoint whole = begun(spec, section, files);
            return spec.training().lora().isAsked() ? adapted(whole, spec, files) : whole;
        } catch (RuntimeException refused) {
            close(files);
            throw refused;
        }
    }

    private static StartingPoint begun(RunSpec spec, ModelSection section, List<AutoCloseable> files) {
        if (section.directory().isPresent()) {
            HuggingFaceModel model = HuggingFaceModel.open(section.directory().get());
            files.add(model);
            ModelSpec trained = asTrained(model.spec(), section);
            return new StartingPoint(trained, sequenceLength(section, trained, Optional.empty()), model, 0,
                    LossScale.none(0), false, List.of(), model.identity(), files);
        }
        ModelSpec model = model(section);
        SizeChecks.requireModel(model);
        InitialWeights weights = new InitialWeights(model, spec.training().seed());
        return new StartingPoint(model, model.size(Axis.POSITION), weights, 0, LossScale.none(0), false, List.of(),
                weights.identity(), files);
    }

    /** Returns the same model with the given keys that change its training alone. */
    private static ModelSpec asTrained(ModelSpec model, ModelSection section) {
        Map<String, Object> given = new HashMap<>(section.values());
        given.keySet().retainAll(model.family().keysOfTraining());
        if (given.isEmpty()) {
            return model;
        }
        Map<String, Object> values = new HashMap<>(model.section().values());
        values.putAll(given);
        try {
            return model.family().read(new Section(values));
        } catch (IllegalArgumentException refused) {
            throw new UsageException(refused.getMessage(), refused);
        }
    }

    /** Returns the same model with adapters, from a directory or new ones. */
    private static StartingPoint adapted(StartingPoint whole, RunSpec spec, List<AutoCloseable> files) {
        LoraSpec asked = spec.training().lora();
        if (asked.adapter().isPresent()) {
            PeftAdapter adapter = PeftAdapter.open(asked.adapter().get(), whole.model(), whole.identity());
            files.add(adapter);
            requireAgreement(asked, adapter.model().lora().orElseThrow(), whole.model(),
                    "the adapter of model.adapter");
            return whole.with(adapter.model(), adapter, adapter.identity());
        }
        ModelSpec model = withAdapters(whole.model(), asked, whole.identity());
        InitialWeights adapters = new InitialWeights(model, spec.training().seed());
        return whole.with(model, adapters, adapters.identity());
    }

    private static ModelSpec withAdapters(ModelSpec base, LoraSpec asked, String identity) {
        int rank = asked.rank().orElseThrow();
        try {
            return base.family().adapted(base,
                    new Lora(rank, asked.alpha().orElse(2.0 * rank), asked.targets(), identity));
        } catch (IllegalArgumentException refused) {
            throw new UsageException("training.lora: " + refused.getMessage(), refused);
        }
    }

    private static void requireAgreement(LoraSpec asked, Lora found, ModelSpec base, String holder) {
        List<String> wrong = new ArrayList<>();
        asked.rank()
                .ifPresent(rank -> compare(wrong, "adapter", "training.lora.rank", (long) rank, (long) found.rank()));
        asked.alpha().ifPresent(alpha -> compare(wrong, "adapter", "training.lora.alpha", alpha, found.alpha()));
        if (!asked.targets().isEmpty()) {
            LoraSpec same = new LoraSpec(Optional.empty(), OptionalInt.of(found.rank()),
                    OptionalDouble.of(found.alpha()), asked.targets(), 0);
            compare(wrong, "adapter", "training.lora.targets",
                    withAdapters(base, same, found.base()).lora().orElseThrow().targets(),
                    found.targets());
        }
        if (!wrong.isEmpty()) {
            throw new UsageException(holder + " is not the one that the configuration describes: "
                    + String.join("; ", wrong) + ". Set those keys to the same to take it");
        }
    }

    private StartingPoint with(ModelSpec adapted, WeightSource adapters, String ofAdapters) {
        return new StartingPoint(adapted, sequenceLength, new AdaptedWeights(adapted, weights, adapters), stepsDone,
                lossScale, resumed, passedOver, identity + ", adapters " + ofAdapters, files);
    }

    private static StartingPoint resumed(RunSpec spec, ModelSection section, Path from, List<AutoCloseable> files) {
        // Refused before every byte of the weights is read for its checksum.
        Checkpoint.modelOf(from).ifPresent(model -> sequenceLength(section, model, Optional.of(from)));
        Checkpoint checkpoint = Checkpoint.open(from);
        files.add(checkpoint);
        ModelSpec model = checkpoint.model();
        StartingPoint point = new StartingPoint(model, sequenceLength(section, model, Optional.of(from)), checkpoint,
                checkpoint.stepsDone(), checkpoint.lossScale(), true, checkpoint.passedOver(), "those of a checkpoint",
                files);
        LoraSpec asked = spec.training().lora();
        if (asked.isAsked() != model.lora().isPresent()) {
            throw new UsageException(asked.isAsked()
                    ? checkpoint.directory()
                            + " has a whole model, but training.lora or model.adapter asks for adapters:"
                            + " leave them out, or begin a run with model.from"
                    : checkpoint.directory()
                            + " has adapters alone: set training.lora.rank, or model.adapter, as the run"
                            + " that wrote it had");
        }
        if (!asked.isAsked()) {
            return point;
        }
        Lora lora = model.lora().orElseThrow();
        requireAgreement(asked, lora, model.base(), "the adapter of " + checkpoint.directory());
        StartingPoint base = begun(spec, section, files);
        if (!base.model().equals(model.base())) {
            throw new UsageException(checkpoint.directory() + " has adapters for another model: they are for "
                    + model.base().summary() + ", but the configuration describes " + base.model().summary());
        }
        if (!base.identity().equals(lora.base())) {
            throw new UsageException(checkpoint.directory() + " has adapters for other weights of the same shape: those"
                    + " had the identity " + lora.base() + ", and the ones of the configuration have " + base.identity()
                    + "; put model.from, or training.seed, back to what the run began with");
        }
        return new StartingPoint(model, point.sequenceLength(), new AdaptedWeights(model, base.weights(), checkpoint),
                point.stepsDone(), point.lossScale(), true, point.passedOver(), base.identity(), files);
    }

    /** Checks the state of the checkpoint, if there is one; returns a sentence on each kind of state that the run drops. */
    List<String> check(TrainingPlan plan, TrainingSpec training) {
        return files.stream().filter(Checkpoint.class::isInstance).map(Checkpoint.class::cast)
                .flatMap(checkpoint -> ResumedState.check(checkpoint, plan, training).stream()).toList();
    }

    /** Returns sentences for the user on unusual facts in the files of the model. */
    public List<String> notes() {
        return files.stream().filter(HuggingFaceModel.class::isInstance).map(HuggingFaceModel.class::cast)
                .flatMap(model -> model.notes().stream()).toList();
    }

    /** Closes the files; no rank can load from them after that. */
    void close() {
        close(files);
    }

    static void close(List<AutoCloseable> files) {
        for (AutoCloseable file : files) {
            try {
                file.close();
            } catch (Exception failure) {
                throw new IllegalStateException("closing a file that was only read cannot fail", failure);
            }
        }
    }

    private static ModelSpec model(ModelSection section) {
        try {
            return ModelFamilies.named(section.family().orElseThrow()).read(new Section(section.values()));
        } catch (IllegalArgumentException refused) {
            throw new UsageException(refused.getMessage(), refused);
        }
    }

    private static int sequenceLength(ModelSection asked, ModelSpec model, Optional<Path> resumed) {
        List<String> wrong = new ArrayList<>();
        String holder = resumed.isPresent() ? "checkpoint" : "model";
        Map<String, Object> values = new LinkedHashMap<>(asked.values());
        int longest = model.size(Axis.POSITION);
        int sequenceLength = longest;
        if (asked.directory().isPresent()) {
            values.remove(SEQUENCE_LENGTH);
            sequenceLength = asked.sequenceLength().orElse(Math.min(longest, USUAL_LENGTH));
        }
        asked.family().ifPresent(family -> compare(wrong, holder, "model.family", family, model.family().name()));
        values.forEach(
                (key, value) -> compare(wrong, holder, "model." + key, value, model.section().values().get(key)));
        if (sequenceLength > longest) {
            wrong.add("model.sequence-length = " + sequenceLength + ", but the model has positions for " + longest);
        }
        if (!wrong.isEmpty()) {
            throw new UsageException(resumed
                    .map(from -> from + " is of another model than the configuration describes: "
                            + String.join("; ", wrong) + ". Leave those keys as they were to resume from it")
                    .orElseGet(() -> "the model that was loaded is not the one the configuration describes: "
                            + String.join("; ", wrong) + ". Leave those keys out to take the model's own"));
        }
        return sequenceLength;
    }

    private static void compare(List<String> wrong, String holder, String key, Object asked, Object found) {
        if (!asked.toString().equals(String.valueOf(found))) {
            wrong.add(key + " = " + asked + ", but the " + holder + " has " + found);
        }
    }
}
