package dev.troupe.cli.model;

import dev.troupe.cli.options.ExportOptions;
import dev.troupe.cli.options.ExportOptions.Target;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.look.publish.ModelExport;
import dev.troupe.look.publish.WholeWeights;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.RunCompanions;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.weights.gguf.GgufType;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe export}: the model of any checkpoint, as at the end of a run. */
@Command(name = "export", mixinStandardHelpOptions = true, description = {
        "Writes the model of a checkpoint, whatever grid it was trained on: in Hugging Face layout (config.json, model.safetensors, the files of the tokenizer), or as a GGUF file. The run may still be in progress."})
public final class ExportCommand implements Callable<Integer> {
    @Parameters(paramLabel = "RUN|CHECKPOINT", description = {
            "The directory of a run, to export its newest whole checkpoint, or of a checkpoint."})
    private Path from;

    @Option(names = "--out", paramLabel = "DIR", required = true, description = {
            "Where to write: an empty directory, or one that does not exist yet."})
    private Path out;

    @Option(names = "--step", paramLabel = "N", description = {
            "Takes the run's checkpoint after N steps in place of the newest."})
    private Long step;

    @Mixin
    private ExportOptions options;

    private final PrintStream output = System.out;

    @Override
    public Integer call() {
        Target target = options.target();
        if (!RunDirectory.isFree(out)) {
            throw new UsageException("the directory " + out
                    + " is in use: it must be empty or not there yet; choose another with --out");
        }
        try (Checkpoint checkpoint = Checkpoint.open(chosen())) {
            checkpoint.passedOver().forEach(what -> output.println("Passed over a checkpoint: " + what + "."));
            options.requireFor(checkpoint.model().lora().isPresent());
            boolean isOfAdapters = checkpoint.model().lora().isPresent()
                    && target instanceof Target.HuggingFace directory && !directory.isMerged();
            if (isOfAdapters) {
                ModelExport.adapters(checkpoint, out);
            } else {
                writeModel(checkpoint, target);
            }
            output.printf(Locale.ROOT, "%s: the %s after %d steps, %,d parameters, from %s%n", out,
                    isOfAdapters ? "adapters" : "model", checkpoint.stepsDone(),
                    isOfAdapters
                            ? checkpoint.model().trainedCount()
                            : checkpoint.model().base().parameterCount(),
                    checkpoint.directory());
            if (!isOfAdapters) {
                companions(checkpoint).sentence().ifPresent(output::println);
            }
        }
        return ExitCode.DONE;
    }

    private void writeModel(Checkpoint checkpoint, Target target) {
        RunCompanions.Found companions = companions(checkpoint);
        try (WholeWeights whole = WholeWeights.of(checkpoint)) {
            switch (target) {
                case Target.HuggingFace(var type, long shardBytes, _) -> ModelExport.huggingFace(whole.model(),
                        whole.weights(), type.orElse(checkpoint.parameterType()), out, shardBytes,
                        companions.directory());
                case Target.Gguf(GgufType type) -> ModelExport.gguf(whole.model(), whole.weights(), type, out,
                        tokenizer(companions),
                        Checkpoint.runDirectoryOf(checkpoint.directory()).getFileName().toString());
            }
        }
    }

    private static RunCompanions.Found companions(Checkpoint checkpoint) {
        return RunCompanions.in(Checkpoint.runDirectoryOf(checkpoint.directory()));
    }

    private static Path tokenizer(RunCompanions.Found companions) {
        companions.notice().ifPresent(why -> {
            throw new UsageException(
                    "a GGUF file needs the tokenizer of the model, but " + why + ": take --format huggingface");
        });
        return companions.directory().orElseThrow();
    }

    private Path chosen() {
        if (!Files.isDirectory(from)) {
            throw new UsageException("there is no directory " + from
                    + ": name the directory of a run, or of one of its checkpoints");
        }
        if (step == null) {
            return from;
        }
        if (Checkpoint.isAt(from)) {
            throw new UsageException("--step chooses a checkpoint of a run, but " + from
                    + " is a checkpoint already: leave --step out, or name " + Checkpoint.runDirectoryOf(from));
        }
        Path checkpoint = Checkpoint.after(step, from);
        if (step < 0 || !Files.isDirectory(checkpoint)) {
            List<Long> there = Checkpoint.steps(from).boxed().sorted().toList();
            throw new UsageException("the run in " + from + " has no checkpoint after " + step + " steps: "
                    + (there.isEmpty()
                            ? "it has none"
                            : "there are those after "
                                    + there.stream().map(Object::toString).collect(Collectors.joining(", "))));
        }
        return checkpoint;
    }
}
