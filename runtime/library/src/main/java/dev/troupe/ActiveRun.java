package dev.troupe;

import dev.troupe.look.output.RunEnd;
import dev.troupe.look.output.RunJournal;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.run.TrainingRun;
import dev.troupe.run.news.RunOutcome;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;

/** The part of a run in this process, from its start until its last file is written and its resources are released. */
final class ActiveRun {
    private final PreparedRun run;
    private final TrainingRun training;
    private final RunLead lead;
    private final AutoCloseable resources;
    private volatile boolean isAtOnce;

    /**
     * @param lead the files of the run, if this process has the coordinator
     * @param resources closed once the run is over and its files are written
     */
    ActiveRun(PreparedRun run, TrainingRun training, RunLead lead, AutoCloseable resources) {
        this.run = run;
        this.training = training;
        this.lead = lead;
        this.resources = resources;
    }

    Path directory() {
        return run.request().output();
    }

    String engine() {
        return run.engine().provider().kind();
    }

    long steps() {
        return run.spec().training().steps();
    }

    long stepsDone() {
        return training.stepsDone();
    }

    void stop() {
        training.stop();
    }

    void stopNow() {
        isAtOnce = true;
        training.stopNow();
    }

    /**
     * Refuses a wait for the end of the run in its own listener, which would never end.
     *
     * @throws IllegalStateException if this thread calls the listener
     */
    void requireNoListener() {
        if (lead.isListening()) {
            throw new IllegalStateException(
                    "a listener must not wait for the end of its run, since the run waits for the"
                            + " listener: call stop() or stopNow() here, and wait in another thread");
        }
    }

    /** Begins to wait for the end, on a separate thread. */
    CompletableFuture<TrainingResult> begin() {
        CompletableFuture<TrainingResult> result = new CompletableFuture<>();
        Thread.ofPlatform().name("troupe-run-" + run.spec().name()).start(() -> {
            TrainingResult ended;
            try (AutoCloseable _ = resources) {
                ended = end();
            } catch (Throwable failure) { // errors too, since a thread waits for the result
                result.completeExceptionally(failure);
                return;
            }
            result.complete(ended);
        });
        return result;
    }

    private TrainingResult end() throws InterruptedException {
        RunOutcome outcome = training.await();
        if (outcome.wasRefused()) {
            throw new RequestException(outcome.failure().orElseThrow());
        }
        return lead.journal().map(journal -> lead(outcome, journal)).orElseGet(() -> follow(outcome));
    }

    private TrainingResult lead(RunOutcome outcome, RunJournal journal) {
        return switch (journal.end(outcome, isAtOnce)) {
            case RunEnd.Failed(String reason) ->
                throw new RunFailedException(reason, outcome.cause(), directory(), journal.lastCheckpoint());
            case RunEnd.ModelUnwritten(String reason) ->
                throw new RunFailedException("the run is done, but its model could not be written: " + reason,
                        outcome.cause(), directory(), journal.lastCheckpoint());
            case RunEnd.WithoutWeights() -> result(outcome, Optional.empty());
            case RunEnd.CutShort() -> result(outcome, Optional.empty());
            case RunEnd.Written(Path model, _) -> result(outcome, Optional.of(model));
        };
    }

    /** Handles the end on a node without the coordinator. */
    private TrainingResult follow(RunOutcome outcome) {
        if (outcome.failure().isPresent()) {
            throw new RunFailedException(outcome.failure().get(), outcome.cause(), directory(), newest());
        }
        return result(outcome, Optional.empty());
    }

    private Optional<Path> newest() {
        return checkpoints().stream().findFirst();
    }

    private List<Path> checkpoints() {
        return dev.troupe.plan.checkpoint.Checkpoint.steps(directory())
                .mapToObj(steps -> dev.troupe.plan.checkpoint.Checkpoint.after(steps, directory())).toList();
    }

    private TrainingResult result(RunOutcome outcome, Optional<Path> model) {
        double validation = lead.journal().map(RunJournal::validationLoss).orElse(Double.NaN);
        return new TrainingResult(directory(), engine(), model, checkpoints(), outcome.stepsDone(), lead.losses(),
                Double.isNaN(validation) ? OptionalDouble.empty() : OptionalDouble.of(validation),
                outcome.stepsDone() < run.spec().training().steps());
    }
}
