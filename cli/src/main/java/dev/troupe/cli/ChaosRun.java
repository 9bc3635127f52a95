package dev.troupe.cli;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.RunSpec;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.look.chaos.RunRecord;
import dev.troupe.look.output.MetricsLog;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.BuiltInCorpus;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * The two runs that chaos compares, trained as {@code train} does or, if the configuration names nodes, as {@code launch}
 * does.
 */
final class ChaosRun {
    private final RunSpec spec;
    private final Path directory;

    ChaosRun(RunSpec spec, Path directory) {
        this.spec = spec;
        this.directory = directory;
    }

    /** The end of a run. */
    record Ended(RunRecord record, int exitCode) {
        /** Returns the reason why the run has no result to compare; empty if it has one. */
        Optional<String> failure() {
            return exitCode == ExitCode.DONE
                    ? Optional.empty()
                    : Optional.of("it ended with exit code " + exitCode + ", for the reason above");
        }
    }

    /** Returns the path of the trained weights in a run's directory: the whole model or the adapters. */
    static Path weights(RunSpec spec) {
        return Path.of("model",
                spec.training().lora().isAsked() ? "adapter_model.safetensors" : "model.safetensors");
    }

    /** Checks everything that can be checked before anything starts. */
    PreparedRun prepare(List<FaultSpec> faults) {
        List<Integer> all = IntStream.range(0, spec.parallel().worldSize()).boxed().toList();
        Optional<RunRequest.Share> share = spec.cluster().map(_ -> new RunRequest.Share(all, all, true));
        PreparedRun run = PreparedRun.of(new RunRequest(spec.with(faults), BuiltInCorpus.utf8(), directory,
                Optional.empty(), OptionalLong.empty(), false, share));
        if (!run.planned().leavesWeights()) {
            run.close();
            throw new UsageException("the engine " + run.engine().provider().kind()
                    + " computes nothing, so there is nothing to compare: choose another engine.kind");
        }
        return run;
    }

    /**
     * Trains with faults, in a directory of that name. A run that ends before its last step is resumed from its newest
     * checkpoint, if it has one, at most once for each fault.
     */
    Ended train(String name, List<FaultSpec> faults) {
        Path config = directory.resolve(name + ".conf");
        Path run = directory.resolve(name);
        try {
            Files.createDirectories(directory);
            Files.writeString(config, spec.with(faults).toHocon());
        } catch (IOException failure) {
            throw RunDirectory.unwritable(directory, failure);
        }
        int exitCode = execute(config, run);
        RunRecord record = read(run);
        while (exitCode == ExitCode.RUN_FAILED && record.resumed() < faults.size()
                && Checkpoint.newestSteps(run).isPresent()) {
            long endedMillis = System.currentTimeMillis();
            long stepsDone = Checkpoint.newestSteps(run).getAsLong();
            exitCode = execute(config, run, "--resume", run.toString());
            record = record.resumed(read(run), endedMillis, stepsDone);
        }
        return new Ended(record, exitCode);
    }

    private int execute(Path config, Path run, String... more) {
        List<String> arguments = new ArrayList<>(List.of(spec.cluster().isPresent() ? "launch" : "train",
                config.toString(), "--out", run.toString()));
        if (spec.cluster().isPresent()) {
            arguments.addAll(List.of("--restarts", "0")); // this class resumes the run, and counts it
        }
        arguments.addAll(List.of(more));
        return Troupe.commandLine().execute(arguments.toArray(String[]::new));
    }

    private static RunRecord read(Path run) {
        return RunRecord.read(run, run.resolve(MetricsLog.FILE));
    }
}
