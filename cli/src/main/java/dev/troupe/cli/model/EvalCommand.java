package dev.troupe.cli.model;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.look.model.Evaluation;
import dev.troupe.plan.UsageException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe eval}: the loss and the perplexity of a model on data. */
@Command(name = "eval", mixinStandardHelpOptions = true, description = {
        "Measures the loss and the perplexity of a model (model.from, or --from) on the data of data.path, on one rank."})
public final class EvalCommand implements Callable<Integer> {
    @Mixin
    private ModelOptions model;

    @Option(names = "--sequences", paramLabel = "N", description = {
            "The most sequences to read, from the beginning of the data; default: all."})
    private Long sequences;

    @Option(names = "--save-logits", paramLabel = "FILE", description = {
            "Writes the logits of the first sequence as a safetensors file."})
    private Path logits;

    private final PrintStream output = System.out;

    @Override
    public Integer call() {
        if (sequences != null && sequences < 1) {
            throw new UsageException("--sequences must be at least 1, but found " + sequences);
        }
        if (logits != null && Files.exists(logits)) {
            throw new UsageException(
                    "--save-logits: " + logits + " exists already; delete it, or choose another name");
        }
        try (Evaluation evaluation = new Evaluation(model.read(), model.checkpoint())) {
            output.printf(Locale.ROOT, "%s: %,d parameters%n", evaluation.model().summary(),
                    evaluation.model().parameterCount());
            evaluation.data().notes().forEach(note -> output.println("Note: " + note + "."));
            Evaluation.Result result = evaluation.measure(sequences == null ? Long.MAX_VALUE : sequences,
                    Optional.ofNullable(logits));
            output.printf(Locale.ROOT, "loss %.10f   perplexity %.4f   on %,d targets in %,d sequences of %s%n",
                    result.loss(), result.perplexity(), result.targets(), result.sequences(), evaluation.data().name());
        }
        return ExitCode.DONE;
    }
}
