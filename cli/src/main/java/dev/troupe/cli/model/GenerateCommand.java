package dev.troupe.cli.model;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.generate.Sampling;
import dev.troupe.look.model.Generation;
import dev.troupe.plan.UsageException;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe generate}: a model continues a prompt. */
@Command(name = "generate", mixinStandardHelpOptions = true, description = {
        "Lets a model (model.from, or --from) continue a prompt, on one rank. The keys and values of prompt and text are kept, so a token costs a forward of one row: it is for trying a model, not for serving one."})
public final class GenerateCommand implements Callable<Integer> {
    private static final int USUAL_TOKENS = 100;

    @Mixin
    private ModelOptions model;

    @Option(names = "--prompt", required = true, paramLabel = "TEXT", description = "The text to continue.")
    private String prompt;

    @Option(names = "--tokens", paramLabel = "N", description = {
            "The most tokens to add; default: 100, or as many as the model has positions for."})
    private Integer tokens;

    @Option(names = "--temperature", defaultValue = "0.8", paramLabel = "X", description = {
            "What logits are divided by; 0 takes the most likely token. Default: 0.8."})
    private double temperature;

    @Option(names = "--top-k", defaultValue = "0", paramLabel = "K", description = {
            "Only the K most likely tokens can be drawn; 0, the default, for all."})
    private int topK;

    @Option(names = "--top-p", defaultValue = "1", paramLabel = "P", description = {
            "Draws only from the smallest set of tokens with a total probability of P; 1, the default: from all."})
    private double topP;

    @Option(names = "--seed", defaultValue = "1", paramLabel = "SEED", description = {
            "The same seed gives the same text. Default: 1."})
    private long seed;

    private final PrintStream output = System.out;

    @Override
    public Integer call() {
        if (tokens != null && tokens < 1) {
            throw new UsageException("--tokens must be at least 1, but found " + tokens);
        }
        Sampling sampling;
        try {
            sampling = new Sampling(temperature, topK, topP, seed);
        } catch (IllegalArgumentException refused) {
            throw new UsageException(refused.getMessage(), refused);
        }
        try (Generation generation = new Generation(model.read(), model.checkpoint())) {
            generation.notes().forEach(note -> System.err.println("Note: " + note + "."));
            int count = tokens == null ? Math.clamp(generation.roomAfter(prompt), 1, USUAL_TOKENS) : tokens;
            output.println(prompt + generation.write(prompt, count, sampling));
        }
        return ExitCode.DONE;
    }
}
