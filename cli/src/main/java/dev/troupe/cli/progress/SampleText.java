package dev.troupe.cli.progress;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Engine;
import dev.troupe.generate.Generator;
import dev.troupe.generate.Sampling;
import dev.troupe.look.output.TrainedModel;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.tokenizer.Tokenizer;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/** A sample of the text of a trained model. */
final class SampleText {
    private static final int PROMPT_TOKENS = 16;
    /** The time limit; a large model writes less text. */
    private static final long SAMPLE_NANOS = 5_000_000_000L;

    private SampleText() {
    }

    /**
     * Lets the model continue the beginning of a text that it was trained on, by {@code observe.sample-tokens}.
     *
     * @param isEnough whether to stop early
     */
    static void print(PreparedRun run, Path checkpoint, PrintStream output, BooleanSupplier isEnough) {
        int tokens = run.spec().observe().sampleTokens();
        if (tokens == 0) {
            return;
        }
        MicrobatchRows first = new MicrobatchRows(run.batches().sequenceLength(), run.batches().separatesDocuments());
        run.batches().fillMicrobatch(0, 0, 1, first);
        int[] prompt = Arrays.copyOf(first.inputs(), Math.min(PROMPT_TOKENS, first.tokenCount()));
        int[] written;
        try (Checkpoint weights = Checkpoint.open(checkpoint);
                Engine engine = run.engine().open();
                Generator generator = new Generator(engine, run.model(), TrainedModel.whole(run, weights),
                        PROMPT_TOKENS + tokens)) {
            if (isEnough.getAsBoolean()) {
                return;
            }
            long end = System.nanoTime() + SAMPLE_NANOS;
            written = generator.generate(prompt, tokens, new Sampling(0.8, 40, run.spec().training().seed()),
                    _ -> System.nanoTime() > end || isEnough.getAsBoolean());
        }
        output.println();
        output.println("The model continues \"" + shown(run, prompt) + "\":");
        shown(run, written).lines().forEach(line -> output.println("  | " + line));
    }

    private static String shown(PreparedRun run, int[] tokens) {
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
