package dev.troupe.cli;

import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.run.PreparedRun;
import dev.troupe.run.RequestException;
import dev.troupe.run.RunDirectory;
import dev.troupe.run.RunRequest;
import dev.troupe.run.TrainingRun;
import dev.troupe.run.TransportOf;
import dev.troupe.transport.Transport;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe train}: trains, exports the model, shows what it has learnt. */
@Command(name = "train", mixinStandardHelpOptions = true, description = {
        "Trains a model; with no argument at all, a small one on the built-in corpus."})
final class TrainCommand implements Callable<Integer> {
    @Parameters(arity = "0..1", paramLabel = "CONFIG", description = "A HOCON file with everything under troupe.")
    private Path config;

    @Option(names = "-s", paramLabel = "key=value", description = {
            "Sets one key, without troupe; wins over CONFIG. May be repeated."})
    private List<String> settings = List.of();

    @Option(names = "--out", paramLabel = "DIR", description = {
            "Where the run writes: an empty directory, or one that is not there yet. Default: runs/NAME, or runs/NAME-2 and so on where that is taken."})
    private Path out;

    @Option(names = "--resume", paramLabel = "DIR", description = {
            "Goes on from the newest checkpoint of a run's directory, or from that very checkpoint; with the run's own configuration where CONFIG is not given, and in its own directory where --out is not."})
    private Path resume;

    @Option(names = "--save-gradients", paramLabel = "STEP", description = {
            "Writes the gradients of that step (from 0), as they are before clipping, to gradients-step-STEP.safetensors."})
    private Long gradientsOf;

    private final PrintStream output = System.out;

    @Override
    public Integer call() throws InterruptedException {
        Optional<Path> resumed = Optional.ofNullable(resume);
        RunSpec spec = RunSpecReader.read(configFile(resumed), settings);
        RunRequest request = new RunRequest(spec, BuiltInCorpus.utf8(), directory(spec, resumed), resumed,
                gradientsOf == null ? OptionalLong.empty() : OptionalLong.of(gradientsOf));
        try (PreparedRun run = new PreparedRun(request);
                Transport transport = TransportOf.spec(spec.transport(), run.plan().rankCount())) {
            return train(run, transport);
        }
    }

    private Optional<Path> configFile(Optional<Path> resumed) {
        if (config != null || resumed.isEmpty()) {
            return Optional.ofNullable(config);
        }
        Path file = Checkpoint.runDirectoryOf(resumed.get()).resolve(RunDirectory.CONFIG);
        if (!Files.isRegularFile(file)) {
            throw new RequestException("--resume " + resumed.get() + " names no run: there is no " + file
                    + "; name the directory of a run, or give the run's CONFIG too");
        }
        return Optional.of(file);
    }

    private Path directory(RunSpec spec, Optional<Path> resumed) {
        if (out != null) {
            return out;
        }
        if (resumed.isPresent()) {
            return Checkpoint.runDirectoryOf(resumed.get());
        }
        return RunDirectory.firstFree(Path.of("runs", spec.name()));
    }

    private int train(PreparedRun run, Transport transport) throws InterruptedException {
        Announcement.print(run, output);
        try (LeadingReport report = new LeadingReport(run, output)) {
            report.lead();
            TrainingRun training = TrainingRun.start(run, report.directory(), transport, report.listener());
            try (Interrupt interrupt = Interrupt.stops(training::stop, output)) {
                return report.end(training.await(), interrupt.happened());
            }
        }
    }
}
