package dev.troupe.look.output;

import dev.troupe.look.bisect.BitsFile;
import dev.troupe.look.chaos.RecoveryLog;
import dev.troupe.look.observe.Observations;
import dev.troupe.look.observe.RunObserver;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.CheckpointException;
import dev.troupe.plan.checkpoint.RunCompanions;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunFacts;
import dev.troupe.protocol.StepResult;
import dev.troupe.rank.bits.StepBits;
import dev.troupe.rank.idle.StepTimes;
import dev.troupe.rank.lines.JsonLog;
import dev.troupe.run.news.EarlierSteps;
import dev.troupe.run.news.Recovery;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The directory of a run in the process of the coordinator: its lock, its configuration, the lines of steps and events, and
 * the observations. Its checkpoints are written by the ranks. Thread rule: as for any listener; {@link #end} and {@link
 * #close} once the run is over.
 */
public final class RunJournal implements RunListener, AutoCloseable {
    /** A coordinator that is cut off from the others stops on its own, which takes some seconds. */
    private static final Duration PARTING = Duration.ofSeconds(15);

    private final PreparedRun run;
    private final RunDirectory directory;
    private final Consumer<String> trouble;
    private final MetricsLog metrics;
    private final EventsFile events;
    private final StepRecords steps;
    private final Observations observations;
    private final BitsFile bits;
    private final RunFacts facts;
    private final EarlierSteps earlierSteps;
    /** The next step to be recorded; written by the coordinator's thread. */
    private volatile long nextLine;

    // Written by the coordinator's thread, read by the main thread once the run is over.
    private volatile double firstLoss = Double.NaN;
    private volatile long firstStep;
    private volatile double lastLoss = Double.NaN;
    private volatile double validationLoss = Double.NaN;
    private volatile Path lastCheckpoint;

    private RunJournal(PreparedRun run, RunDirectory directory, boolean isFirst, List<RunObserver> observers,
            Consumer<String> trouble) {
        this.run = run;
        this.directory = directory;
        this.trouble = trouble;
        this.metrics = isFirst
                ? MetricsLog.open(directory.metrics(), run.stepsDone(), trouble)
                : MetricsLog.takeOver(directory.metrics(), trouble);
        JsonLog.mend(directory.path().resolve(EventsFile.FILE), trouble);
        JsonLog.mend(directory.path().resolve(RecoveryLog.FILE), trouble);
        this.events = new EventsFile(directory.path(), trouble);
        this.bits = new BitsFile(run, directory.path(), trouble);
        this.earlierSteps = isFirst
                ? EarlierSteps.NONE
                : new EarlierSteps(metrics.nextStep(), MetricsLog.stepSeconds(directory.metrics()));
        this.facts = RunFacts.of(run, Math.max(run.stepsDone(), earlierSteps.committed()));
        this.nextLine = facts.firstStep();
        List<RunObserver> all = new ArrayList<>(observers);
        if (run.spec().observe().tensorboard()) {
            all.add(facts -> TensorBoardLog.open(directory.path(), facts, trouble));
        }
        this.observations = new Observations(all, facts, trouble);
        this.steps = new StepRecords(directory.path(), step -> observations.on(new RunNews.Measured(step)), trouble);
        this.steps.continueAt(facts.firstStep());
        readFirstLoss(0);
        long stepsDone = metrics.nextStep();
        MetricsLog.lossOf(directory.metrics(), stepsDone - 1).ifPresent(loss -> lastLoss = loss);
        MetricsLog.validationLoss(directory.metrics(), stepsDone).ifPresent(loss -> validationLoss = loss);
    }

    /**
     * Opens the directory of a run that begins, or resumes from a checkpoint, and writes its configuration.
     *
     * @param observers observe the run in addition to its files
     * @param trouble receives a sentence if a line cannot be written; the run continues without the line
     * @throws dev.troupe.plan.UsageException if the directory is in use, another run has used it since the checks, or it
     *     cannot be written to
     */
    public static RunJournal begin(PreparedRun run, List<RunObserver> observers, Consumer<String> trouble) {
        RunDirectory directory = RunDirectory.open(run.request().output());
        try {
            if (!run.request().continuesInPlace()) {
                directory.requireStillBeginnable();
            }
            if (run.beginsAgain()) {
                clear(directory.path());
            }
            RunJournal journal = new RunJournal(run, directory, true, observers, trouble);
            if (run.request().continuesInPlace()) {
                journal.lastCheckpoint = directory.checkpoint(run.stepsDone());
            }
            journal.writeRequest();
            return journal;
        } catch (UncheckedIOException unwritten) {
            directory.close();
            throw RunDirectory.unwritable(directory.path(), unwritten.getCause());
        } catch (RuntimeException failure) {
            directory.close();
            throw failure;
        }
    }

    private static void clear(Path directory) {
        try {
            Files.deleteIfExists(directory.resolve(RecoveryLog.FILE));
            StepRecords.clear(directory);
            TensorBoardLog.clear(directory);
            BitsFile.clear(directory);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void writeRequest() {
        try {
            if (run.request().text().isPresent()) {
                Files.write(run.spec().data().paths().getFirst(), run.request().text().get());
            }
            ReplacedFile.write(directory.path().resolve(RunFile.FILE), RunFile.text(run));
            Files.writeString(directory.config(), run.spec().toHocon());
            if (run.planned().leavesWeights()) {
                RunCompanions.of(run.spec(), run.model(), run.tokenizer(), run.request().resume())
                        .writeTo(directory.path());
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /**
     * Opens the directory of a run that another process has led until now; its files remain. If that process had not begun
     * the run, this one begins it. Parameters as for {@link #begin}.
     *
     * @throws dev.troupe.plan.UsageException as for {@link #begin}
     */
    public static RunJournal takeOver(PreparedRun run, List<RunObserver> observers, Consumer<String> trouble) {
        if (!Files.exists(run.request().output().resolve(RunDirectory.CONFIG))) {
            return begin(run, observers, trouble); // the former coordinator was lost before the run began
        }
        RunDirectory directory = RunDirectory.takeOver(run.request().output(), PARTING);
        try {
            RunJournal journal = new RunJournal(run, directory, false, observers, trouble);
            if (Double.isNaN(journal.firstLoss)) { // the run resumed from a checkpoint of another directory
                journal.readFirstLoss(run.stepsDone());
            }
            Checkpoint.newestSteps(directory.path())
                    .ifPresent(steps -> journal.lastCheckpoint = directory.checkpoint(steps));
            return journal;
        } catch (UncheckedIOException unwritten) {
            directory.close();
            throw RunDirectory.unwritable(directory.path(), unwritten.getCause());
        } catch (RuntimeException failure) {
            directory.close();
            throw failure;
        }
    }

    private void readFirstLoss(long step) {
        MetricsLog.lossOf(directory.metrics(), step).ifPresent(loss -> {
            firstLoss = loss;
            firstStep = step;
        });
    }

    public RunDirectory directory() {
        return directory;
    }

    /** Returns the first loss in the run's metrics; NaN before the first step. */
    public double firstLoss() {
        return firstLoss;
    }

    public long firstStep() {
        return firstStep;
    }

    /** Returns the loss of the newest step, perhaps of another process; NaN before the first step. */
    public double lastLoss() {
        return lastLoss;
    }

    /** Returns the newest validation loss; NaN before the first. */
    public double validationLoss() {
        return validationLoss;
    }

    /** Returns the newest checkpoint; empty before the first. */
    public Optional<Path> lastCheckpoint() {
        return Optional.ofNullable(lastCheckpoint);
    }

    public double tokensPerSecond(double stepSeconds) {
        return facts.tokensPerStep() / stepSeconds;
    }

    /** Returns the steps that another process reported before this one. */
    public EarlierSteps earlierSteps() {
        return earlierSteps;
    }

    @Override
    public void on(RunNews news) {
        events.on(news);
        switch (news) {
            case RunNews.Started started -> run.engine().passedOver()
                    .ifPresent(why -> events.write("engine-passed-over", started.stepsDone(), why));
            case RunNews.Timed(StepTimes times) -> steps.add(times);
            case RunNews.Digested(StepBits ofStep) -> bits.add(ofStep);
            case RunNews.StepDone(StepResult result, double seconds) -> add(result, seconds);
            case RunNews.Validated(long stepsDone, double loss) -> {
                validationLoss = loss;
                metrics.writeValidated(stepsDone, loss);
            }
            case RunNews.CheckpointDone(_, _, Path checkpoint) -> lastCheckpoint = checkpoint;
            case RunNews.CheckpointFailed(_, long stepsDone, String why) ->
                metrics.writeCheckpointFailed(stepsDone, why);
            case RunNews.Recovered(Recovery recovery) -> add(recovery);
            default -> {
                // only for the observations
            }
        }
        observations.on(news);
    }

    private void add(StepResult result, double seconds) {
        if (Double.isNaN(firstLoss)) {
            firstLoss = result.loss();
            firstStep = result.step();
        }
        lastLoss = result.loss();
        reportMissing(result.step());
        metrics.write(result, facts.tokensPerStep(), run.batches().epochs(result.step() + 1), seconds);
    }

    /** Reports steps that a lost coordinator has committed, and did not record before its end. Nodes do not keep losses. */
    private void reportMissing(long step) {
        if (step > nextLine) {
            String sentence = (step == nextLine + 1 ? "step " + nextLine : "steps " + nextLine + " to " + (step - 1))
                    + " without a line in " + MetricsLog.FILE
                    + ": the process that led the run ended before it wrote the line";
            events.write("metrics-missing", step, sentence);
            trouble.accept(sentence);
        }
        nextLine = Math.max(nextLine, step + 1);
    }

    private void add(Recovery recovery) {
        try {
            RecoveryLog.append(directory.path(), recovery);
        } catch (UncheckedIOException unwritten) { // a lost line does not end the run that has just recovered
            trouble.accept(unwritten.getMessage() + ": " + FileReason.of(unwritten));
        }
    }

    /**
     * Writes the model of a run that is over.
     *
     * @param isAtOnce whether the run was asked to end at once; a stopped run then has no model
     */
    public RunEnd end(RunOutcome outcome, boolean isAtOnce) {
        directory.keepToTheEnd();
        reportMissing(outcome.stepsDone());
        if (outcome.failure().isPresent()) {
            events.write("failed", outcome.stepsDone(), outcome.failure().get());
            return new RunEnd.Failed(outcome.failure().get());
        }
        events.write(wasStopped(outcome) ? "stopped" : "done", outcome.stepsDone(), wasStopped(outcome)
                ? "the run was stopped after " + outcome.stepsDone() + " steps"
                : "all " + outcome.stepsDone() + " steps are done");
        if (!run.planned().leavesWeights()) {
            return new RunEnd.WithoutWeights();
        }
        Path newest = directory.checkpoint(outcome.stepsDone());
        boolean hasNewest = lastCheckpoint().filter(last -> last.endsWith(newest.getFileName())).isPresent();
        if (wasStopped(outcome) && (isAtOnce || !hasNewest)) {
            return new RunEnd.CutShort();
        }
        Path checkpoint = lastCheckpoint().orElseThrow();
        try {
            TrainedModel.export(run, checkpoint, directory.model());
        } catch (WeightException | CheckpointException unwritten) {
            return new RunEnd.ModelUnwritten(unwritten.getMessage());
        }
        return new RunEnd.Written(directory.model(), checkpoint);
    }

    /** Returns whether a run ended before its last step. */
    public boolean wasStopped(RunOutcome outcome) {
        return outcome.stepsDone() < run.spec().training().steps();
    }

    @Override
    public void close() {
        try {
            steps.close();
            observations.close();
            bits.close();
            metrics.close();
        } finally {
            directory.close(); // or the lock would remain as long as the process
        }
    }
}
