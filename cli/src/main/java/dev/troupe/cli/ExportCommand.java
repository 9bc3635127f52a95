package dev.troupe.cli;

import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.output.TrainedModel;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.plan.UsageException;
import dev.troupe.prepare.RunDirectory;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe export}: the model of any checkpoint, as at the end of a run. */
@Command(name = "export", mixinStandardHelpOptions = true, description = {
        "Writes the model of a checkpoint in Hugging Face layout (config.json, model.safetensors), whatever grid it was trained on; the run may still be going on."})
final class ExportCommand implements Callable<Integer> {
    @Parameters(paramLabel = "RUN|CHECKPOINT", description = {
            "The directory of a run, of which the newest whole checkpoint is taken, or that of a checkpoint."})
    private Path from;

    @Option(names = "--out", paramLabel = "DIR", required = true, description = {
            "Where to write: an empty directory, or one that is not there yet."})
    private Path out;

    @Option(names = "--step", paramLabel = "N", description = {
            "Takes the run's checkpoint after N steps in place of the newest."})
    private Long step;

    private final PrintStream output = System.out;

    @Override
    public Integer call() {
        if (!RunDirectory.isFree(out)) {
            throw new UsageException("the directory " + out
                    + " is in use: it must be empty or not there yet; choose another with --out");
        }
        try (Checkpoint checkpoint = Checkpoint.open(chosen())) {
            checkpoint.passedOver().forEach(what -> output.println("Passed over a checkpoint: " + what + "."));
            TrainedModel.export(checkpoint, out);
            output.printf(Locale.ROOT, "%s: the model after %d steps, %,d parameters, from %s%n", out,
                    checkpoint.stepsDone(), checkpoint.model().parameterCount(), checkpoint.directory());
        }
        return ExitCode.DONE;
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
