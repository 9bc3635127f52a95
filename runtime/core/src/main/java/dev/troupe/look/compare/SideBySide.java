package dev.troupe.look.compare;

import dev.troupe.config.RunSpec;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.protocol.StepResult;
import dev.troupe.rank.idle.StepTimes;
import dev.troupe.run.TrainingRun;
import dev.troupe.run.TransportOf;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.transport.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * Runs that exist at the same time in this process and take {@link Turns}. Each has a temporary directory of its own. Thread
 * rule: {@link #run} on one thread, which waits; each run has a thread that waits for its end.
 */
final class SideBySide {
    private final List<RunSpec> specs;
    private final byte[] builtInCorpus;
    private final Path directory;
    private final Turns turns;

    /** @param specs the runs, all with the same number of steps */
    SideBySide(List<RunSpec> specs, byte[] builtInCorpus, Path directory) {
        this.specs = specs;
        this.builtInCorpus = builtInCorpus;
        this.directory = directory;
        this.turns = new Turns(specs.size(), Math.toIntExact(specs.getFirst().training().steps()));
    }

    /** As {@link #run}, in a temporary directory. */
    static List<TracedRun> inTurns(List<RunSpec> specs, byte[] builtInCorpus) throws InterruptedException {
        try {
            Path directory = Files.createTempDirectory("troupe-compare-");
            try {
                return new SideBySide(specs, builtInCorpus, directory).run();
            } finally {
                Files.deleteIfExists(directory);
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /**
     * Runs all from their first step to their last.
     *
     * @throws ComparisonException if a run fails
     */
    List<TracedRun> run() throws InterruptedException {
        List<Future<TracedRun>> runs;
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(
                Thread.ofPlatform().name("compared-", 0).factory())) {
            runs = threads.invokeAll(IntStream.range(0, specs.size()).mapToObj(this::life).toList());
        }
        if (turns.failure().isPresent()) {
            throw turns.failure().get();
        }
        List<TracedRun> traced = new ArrayList<>();
        for (Future<TracedRun> run : runs) {
            try {
                traced.add(run.get());
            } catch (ExecutionException failure) {
                throw new IllegalStateException("a failed run has ended the turns", failure);
            }
        }
        return traced;
    }

    private Callable<TracedRun> life(int index) {
        return () -> {
            try {
                turns.awaitLoad(index);
                return run(index, directory.resolve("run-" + index));
            } catch (RuntimeException failure) {
                turns.fail(failure);
                throw failure;
            } catch (Error failure) { // memory that ran out, say: the others must not wait for this run
                turns.fail(new ComparisonException(specs.get(index).parallel().schedule() + " failed: " + failure));
                throw failure;
            }
        };
    }

    private TracedRun run(int index, Path own) throws InterruptedException {
        RunSpec spec = specs.get(index);
        Times times = new Times(index);
        RunRequest request = new RunRequest(spec, builtInCorpus, own, Optional.empty(), OptionalLong.empty(), true,
                Optional.empty());
        try (PreparedRun run = PreparedRun.of(request);
                Transport transport = TransportOf.run(run);
                RunDirectory opened = RunDirectory.open(own)) {
            RunOutcome outcome = TrainingRun.start(run, opened, transport, TrainingRun.warmUp(run), times).await();
            if (outcome.failure().isPresent()) {
                throw new ComparisonException(spec.parallel().schedule() + " failed: " + outcome.failure().get());
            }
            if (times.steps.size() != times.seconds.size()) {
                throw new ComparisonException("a step of " + spec.parallel().schedule()
                        + " has more actions than a trace holds: take fewer microbatches or ranks");
            }
            return new TracedRun(run.plan(), run.engine(), List.copyOf(times.losses), List.copyOf(times.seconds),
                    List.copyOf(times.steps));
        } finally {
            deleteEmpty(own);
        }
    }

    private static void deleteEmpty(Path own) {
        try {
            Files.deleteIfExists(own);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /**
     * The listener of one run, which makes its coordinator wait between two steps. When the listener returns, the next step
     * begins, and its time too.
     */
    private final class Times implements RunListener {
        private final int run;
        private final List<StepTimes> steps = Collections.synchronizedList(new ArrayList<>());
        private final List<Double> losses = Collections.synchronizedList(new ArrayList<>());
        private final List<Double> seconds = Collections.synchronizedList(new ArrayList<>());

        Times(int run) {
            this.run = run;
        }

        @Override
        public void on(RunNews news) {
            switch (news) {
                case RunNews.Started _ -> turns.loaded(run);
                case RunNews.Timed(StepTimes times) -> steps.add(times);
                case RunNews.StepDone(StepResult result, double stepSeconds) -> {
                    losses.add(result.loss());
                    seconds.add(stepSeconds);
                    turns.pass(run);
                }
                case RunNews.Validated _ ->
                    throw new IllegalStateException("a comparison measures no validation loss");
                case RunNews.CheckpointDone _,RunNews.CheckpointFailed _ ->
                    throw new IllegalStateException("a compared run writes no checkpoint");
                default -> {
                    // not compared
                }
            }
        }
    }
}
