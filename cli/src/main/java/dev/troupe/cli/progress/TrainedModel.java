package dev.troupe.cli.progress;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.config.spec.ModelSection;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.generate.Generator;
import dev.troupe.generate.Sampling;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.prepare.PreparedRun;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.WeightSource;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import dev.troupe.weights.peft.AdaptedWeights;
import dev.troupe.weights.peft.PeftAdapter;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/** The model of a run, assembled from the checkpoint at its end. */
public final class TrainedModel {
    private static final int PROMPT_TOKENS = 16;
    private static final int SAMPLE_TOKENS = 240;
    private static final int TOKENS_AT_A_TIME = 16;
    /** Each token costs a whole forward, so a large model shows less. */
    private static final long SAMPLE_NANOS = 5_000_000_000L;

    private final PreparedRun run;
    private final Path checkpoint;

    private TrainedModel(PreparedRun run, Path checkpoint) {
        this.run = run;
        this.checkpoint = checkpoint;
    }

    static TrainedModel of(PreparedRun run, Path checkpoint) {
        return new TrainedModel(run, checkpoint);
    }

    /** Writes the model in Hugging Face layout, in the precision it was trained in. */
    public void export(Path directory) {
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

    /** All weights of the model, of which a checkpoint of adapters has only these. */
    private WeightSource whole(Checkpoint weights) {
        return run.model().lora().isPresent()
                ? new AdaptedWeights(run.model(), run.weights(), weights)
                : weights;
    }

    /**
     * Lets the model continue the beginning of a text that it was trained on.
     *
     * @param isEnough
     *            whether to stop early
     */
    void printSamples(PrintStream output, BooleanSupplier isEnough) {
        MicrobatchRows first = new MicrobatchRows(run.batches().sequenceLength(), run.batches().separatesDocuments());
        run.batches().fillMicrobatch(0, 0, 1, first);
        int[] prompt = Arrays.copyOf(first.inputs(), Math.min(PROMPT_TOKENS, first.inputs().length));
        int[] text = prompt;
        try (Checkpoint weights = Checkpoint.open(checkpoint);
                Engine engine = run.engine().open();
                Generator generator = new Generator(engine, run.model(), whole(weights),
                        PROMPT_TOKENS + SAMPLE_TOKENS)) {
            long end = System.nanoTime() + SAMPLE_NANOS;
            while (text.length < prompt.length + SAMPLE_TOKENS && System.nanoTime() < end && !isEnough.getAsBoolean()) {
                int[] more = generator.generate(text, TOKENS_AT_A_TIME,
                        new Sampling(0.8, 40, run.spec().training().seed() + text.length));
                int[] longer = Arrays.copyOf(text, text.length + more.length);
                System.arraycopy(more, 0, longer, text.length, more.length);
                text = longer;
            }
        }
        int[] written = Arrays.copyOfRange(text, prompt.length, text.length);
        if (written.length == 0) {
            return;
        }
        output.println();
        output.println("The model writes on from \"" + shown(prompt) + "\":");
        shown(written).lines().forEach(line -> output.println("  | " + line));
    }

    private String shown(int[] tokens) {
        return run.tokenizer().map(tokenizer -> visible(tokenizer, tokens))
                .orElseGet(() -> Arrays.stream(tokens).mapToObj(Integer::toString).collect(Collectors.joining(" ")));
    }

    /** Returns text that a terminal can show: control characters other than line ends become dots. */
    private static String visible(Tokenizer tokenizer, int[] tokens) {
        return tokenizer.decode(tokens).codePoints()
                .map(character -> character != '\n' && Character.isISOControl(character) ? '.' : character)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
    }
}
