package dev.troupe.cli;

import dev.troupe.cli.options.NextCommand;
import dev.troupe.cli.options.RunOptions;
import dev.troupe.cli.progress.CoordinatorConsole;
import dev.troupe.cli.progress.RunSummary;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.cli.stop.StoppableRun;
import dev.troupe.cli.watch.Meters;
import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.look.page.RunPage;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.BuiltInCorpus;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.run.TrainingRun;
import dev.troupe.run.TransportOf;
import dev.troupe.run.http.PageServer;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.transport.Transport;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe train}: trains, exports the model, and prints a sample of its text. */
@Command(name = "train", mixinStandardHelpOptions = true, description = {
        "Trains a model; with no argument at all, a small one on the built-in corpus."})
final class TrainCommand implements Callable<Integer> {
    @Parameters(arity = "0..1", paramLabel = "CONFIG", description = "A HOCON file with everything under troupe.")
    private Path config;

    @Mixin
    private RunOptions options;

    @Option(names = "--save-gradients", paramLabel = "STEP", description = {
            "Writes the gradients of that step (from 0), as they are before clipping, to gradients-step-STEP.safetensors."})
    private Long gradientsOf;

    private final PrintStream output = System.out;

    @Override
    public Integer call() throws InterruptedException {
        try (StopRequests requests = StopRequests.listen(output, StopRequests.NOTHING_BEGUN, StopRequests.PATIENCE)) {
            RunSpec spec = RunSpecReader.read(configFile(), options.settings());
            RunRequest request = new RunRequest(spec, BuiltInCorpus.utf8(), options.directory(spec), options.resume(),
                    gradientsOf == null ? OptionalLong.empty() : OptionalLong.of(gradientsOf));
            Meters meters = Meters.on(spec.observe().port());
            try (PreparedRun run = PreparedRun.of(request);
                    Watched page = new Watched(RunPage.serve(run, meters::addTo))) {
                RunSummary.print(run, output);
                page.server().ifPresent(server -> output.println("Page: " + server.address()));
                WarmUpReport warmUp = TrainingRun.warmUp(run);
                requests.starting();
                try (Transport transport = TransportOf.run(run)) {
                    return train(run, transport, warmUp, meters, requests);
                }
            }
        }
    }

    /** The page, if one is served. */
    private record Watched(Optional<PageServer> server) implements AutoCloseable {
        @Override
        public void close() {
            server.ifPresent(PageServer::close);
        }
    }

    /** A resumed run has a configuration of its own. */
    private Optional<Path> configFile() {
        Optional<Path> resumed = options.resume();
        if (config != null || resumed.isEmpty()) {
            return Optional.ofNullable(config);
        }
        return Optional.of(RunDirectory.configOf(resumed.get()));
    }

    private int train(PreparedRun run, Transport transport, WarmUpReport warmUp, Meters meters, StopRequests requests)
            throws InterruptedException {
        try (CoordinatorConsole report = new CoordinatorConsole(run, output, meters)) {
            RunListener listener = report.lead();
            TrainingRun training = TrainingRun.start(run, report.directory(), transport, warmUp, listener);
            requests.running(new StoppableRun(training));
            RunOutcome outcome = training.await();
            int exitCode = report.end(outcome, requests,
                    Optional.of(NextCommand.train(Optional.ofNullable(config), options)));
            transport.counters().droppedInWords().ifPresent(output::println);
            return exitCode;
        }
    }
}
