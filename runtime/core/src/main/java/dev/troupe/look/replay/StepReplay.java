package dev.troupe.look.replay;

import dev.troupe.config.RunSpec;
import dev.troupe.look.bisect.Bisection;
import dev.troupe.look.bisect.BitsFile;
import dev.troupe.look.bisect.RecordedBits;
import dev.troupe.look.output.MetricsLog;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.CheckpointStore;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.protocol.StepResult;
import dev.troupe.rank.bits.StepBits;
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
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** The repetition of a step of a run, from the newest checkpoint before it, with all ranks in this process. */
public final class StepReplay {
    private final Path run;
    private final long step;

    public StepReplay(Path run, long step) {
        this.run = run;
        this.step = step;
    }

    /**
     * Repeats the steps from the newest checkpoint before the step, or from the beginning, and compares their digests with
     * the run's. Nothing is written to the run's directory.
     *
     * @param spec the run's configuration; its faults do not strike
     * @throws UsageException if the step cannot be repeated, or its digests are missing
     */
    public Bisection of(RunSpec spec, byte[] builtInCorpus) throws InterruptedException {
        Path scratch = scratch();
        try (RecordedBits recorded = RecordedBits.open(run)) {
            if (!recorded.steps().contains(step)) {
                throw new UsageException("the run in " + run + " has no digests of step " + step + (recorded.steps()
                        .isEmpty()
                                ? ""
                                : ": it has digests of the steps " + recorded.steps().first() + " to "
                                        + recorded.steps().last()));
            }
            train(spec, builtInCorpus, scratch);
            try (RecordedBits again = RecordedBits.open(scratch)) {
                return Bisection.of(recorded, again);
            }
        } finally {
            delete(scratch);
        }
    }

    private void train(RunSpec spec, byte[] builtInCorpus, Path scratch) throws InterruptedException {
        RunRequest request = new RunRequest(spec.with(List.of()), builtInCorpus, scratch, start(),
                OptionalLong.empty(), true, Optional.empty());
        try (PreparedRun prepared = PreparedRun.of(request);
                Transport transport = TransportOf.run(prepared);
                RunDirectory directory = RunDirectory.open(scratch);
                Recording recording = new Recording(prepared, scratch)) {
            TrainingRun training = TrainingRun.start(prepared, directory, transport, TrainingRun.warmUp(prepared),
                    recording);
            recording.started.complete(training);
            RunOutcome outcome = training.await();
            if (outcome.failure().isPresent()) {
                throw new UsageException("step " + step + " cannot be done again: " + outcome.failure().get());
            }
        }
    }

    /** The listener that records the digests up to the step, and then ends the training. */
    private final class Recording implements RunListener, AutoCloseable {
        private final CompletableFuture<TrainingRun> started = new CompletableFuture<>();
        private final BitsFile file;

        Recording(PreparedRun prepared, Path scratch) {
            this.file = new BitsFile(prepared, scratch, why -> {
                throw new UsageException(why);
            });
        }

        @Override
        public void on(RunNews news) {
            if (news instanceof RunNews.Digested(StepBits bits) && bits.step() <= step) {
                file.add(bits);
            } else if (news instanceof RunNews.StepDone(StepResult result, _) && result.step() >= step) {
                started.thenAccept(TrainingRun::stopNow);
            }
        }

        @Override
        public void close() {
            file.close();
        }
    }

    /** Returns the newest checkpoint before the step; empty for the first weights. */
    private Optional<Path> start() {
        OptionalLong before = Checkpoint.steps(run).filter(steps -> steps <= step).max();
        if (before.isEmpty() && MetricsLog.lossOf(run.resolve(MetricsLog.FILE), 0).isEmpty()) {
            throw new UsageException(
                    "step " + step + " cannot be done again: there is no checkpoint before it in " + run
                            + ", and the run did not begin there; keep more checkpoints (training.keep-checkpoints)");
        }
        return before.isPresent()
                ? Optional.of(CheckpointStore.directoryOf(run, before.getAsLong()))
                : Optional.empty();
    }

    private static Path scratch() {
        try {
            return Files.createTempDirectory("troupe-replay-");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
