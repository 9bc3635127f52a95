package dev.troupe.output;

import dev.troupe.batch.Batches;
import dev.troupe.bisect.BitsFile;
import dev.troupe.bisect.OutputPlace;
import dev.troupe.bits.BitKey;
import dev.troupe.bits.StepBits;
import dev.troupe.chaos.RecoveryLog;
import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.checkpoint.CheckpointException;
import dev.troupe.cluster.status.NodeStatus;
import dev.troupe.lines.JsonLog;
import dev.troupe.observe.Observations;
import dev.troupe.observe.Recovery;
import dev.troupe.observe.RunFacts;
import dev.troupe.observe.RunListener;
import dev.troupe.observe.RunObserver;
import dev.troupe.observe.RunOutcome;
import dev.troupe.prepare.PreparedRun;
import dev.troupe.prepare.RunDirectory;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.publish.RunCompanions;
import dev.troupe.schedule.idle.StepTimes;
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
import java.util.function.UnaryOperator;

/**
 * The directory of a run in the process of the coordinator: its lock, its configuration, and a line for each step and
 * each event. The checkpoints in it are written by the ranks.
 *
 * <p>Thread rule: as of any listener; {@link #end} and {@link #close} once the run is over.
 */
public final class RunJournal implements RunListener, AutoCloseable {
    /** A coordinator that is cut off from the others stops by itself, which takes some seconds. */
    private static final Duration PARTING = Duration.ofSeconds(15);

    private final PreparedRun run;
    private final RunDirectory directory;
    private final Consumer<UnaryOperator<NodeStatus>> status;
    private final Consumer<String> trouble;
    private final Notices notices = new Notices();
    private final MetricsLog metrics;
    private final EventsFile events;
    private final StepRecords steps;
    private final Observations observations;
    private final BitsFile bits;
    private final Batches batches;
    private final long tokensPerStep;
    private final List<Double> earlierStepSeconds;
    private final long committedSteps;

    // Written by the coordinator's thread, read by the main thread once the run is over.
    private volatile double firstLoss = Double.NaN;
    private volatile long firstStep;
    private volatile double lastLoss = Double.NaN;
    private volatile double validationLoss = Double.NaN;
    private volatile Path lastCheckpoint;

    private RunJournal(PreparedRun run, RunDirectory directory, boolean isFirst, List<RunObserver> observers,
            Consumer<UnaryOperator<NodeStatus>> status, Consumer<String> trouble) {
        this.run = run;
        this.directory = directory;
        this.status = status;
        this.trouble = trouble;
        this.metrics = isFirst
                ? MetricsLog.open(directory.metrics(), run.stepsDone(), trouble)
                : MetricsLog.takeOver(directory.metrics(), trouble);
        JsonLog.mend(directory.path().resolve(EventsFile.FILE), trouble);
        JsonLog.mend(directory.path().resolve(RecoveryLog.FILE), trouble);
        this.events = new EventsFile(directory.path(), trouble);
        this.bits = new BitsFile(run, directory.path(), trouble);
        this.batches = run.batches();
        this.tokensPerStep = (long) run.spec().training().globalBatchSize() * run.batches().sequenceLength();
        this.committedSteps = isFirst ? 0 : metrics.nextStep();
        List<RunObserver> all = new ArrayList<>(observers);
        if (run.spec().observe().tensorboard()) {
            all.add(facts -> TensorBoardLog.open(directory.path(), facts, trouble));
        }
        this.observations = new Observations(all,
                new RunFacts(run.spec().name(), run.plan().training().plan().name(),
                        Math.max(run.stepsDone(), committedSteps),
                        run.spec().training().steps(), tokensPerStep, run.memory().ranks()),
                trouble);
        this.steps = new StepRecords(directory.path(), observations::onMeasured, trouble);
        this.steps.continueAt(Math.max(run.stepsDone(), committedSteps));
        this.earlierStepSeconds = isFirst ? List.of() : MetricsLog.stepSeconds(directory.metrics());
        readFirstLoss(0);
        long stepsDone = metrics.nextStep();
        MetricsLog.lossOf(directory.metrics(), stepsDone - 1).ifPresent(loss -> lastLoss = loss);
        MetricsLog.validationLoss(directory.metrics(), stepsDone).ifPresent(loss -> validationLoss = loss);
    }

    /**
     * Opens the directory of a run that begins, or resumes from a checkpoint, and writes its configuration.
     *
     * @param observers told of the run beside its files
     * @param status takes changes of the status of this process's node
     * @param trouble receives a sentence where a line cannot be written; the run continues without the line
     * @throws dev.troupe.plan.UsageException where the directory is in use, another run has been there since the
     *     checks, or it cannot be written to
     */
    public static RunJournal begin(PreparedRun run, List<RunObserver> observers,
            Consumer<UnaryOperator<NodeStatus>> status, Consumer<String> trouble) {
        RunDirectory directory = RunDirectory.open(run.request().output());
        try {
            if (!run.request().continuesInPlace()) {
                directory.requireStillBeginnable();
            }
            if (run.beginsAgain()) {
                clear(directory.path());
            }
            RunJournal journal = new RunJournal(run, directory, true, observers, status, trouble);
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

    /** Removes what another run left. */
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
            WholeFile.write(directory.path().resolve(RunFile.FILE), RunFile.text(run));
            Files.writeString(directory.config(), run.spec().toHocon());
            if (run.leavesWeights()) {
                RunCompanions.of(run.spec(), run.model(), run.tokenizer(), run.request().resume())
                        .writeTo(directory.path());
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /**
     * Opens the directory of a run on which another process reported until now; the files in it remain. A run that the other
     * process had not begun begins.
     *
     * @param observers as for {@link #begin}
     * @param status as for {@link #begin}
     * @param trouble as for {@link #begin}
     * @throws dev.troupe.plan.UsageException as for {@link #begin}
     */
    public static RunJournal takeOver(PreparedRun run, List<RunObserver> observers,
            Consumer<UnaryOperator<NodeStatus>> status, Consumer<String> trouble) {
        if (!Files.exists(run.request().output().resolve(RunDirectory.CONFIG))) {
            return begin(run, observers, status, trouble); // the former coordinator was lost before the run began
        }
        RunDirectory directory = RunDirectory.takeOver(run.request().output(), PARTING);
        try {
            RunJournal journal = new RunJournal(run, directory, false, observers, status, trouble);
            if (Double.isNaN(journal.firstLoss)) { // the run resumed from a checkpoint of another directory
                journal.readFirstLoss(run.stepsDone());
            }
            Checkpoint.newestSteps(directory.path())
                    .ifPresent(steps -> journal.lastCheckpoint = directory.checkpoint(steps));
            return journal;
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

    /** Returns the first loss that the run's metrics have; NaN before the first step. */
    public double firstLoss() {
        return firstLoss;
    }

    /** Returns the step of {@link #firstLoss}. */
    public long firstStep() {
        return firstStep;
    }

    /** Returns the loss of the newest step, which another process may have done; NaN before the first step. */
    public double lastLoss() {
        return lastLoss;
    }

    /** Returns the newest validation loss; NaN where there is none yet. */
    public double validationLoss() {
        return validationLoss;
    }

    /** Returns the newest checkpoint; empty where there is none. */
    public Optional<Path> lastCheckpoint() {
        return Optional.ofNullable(lastCheckpoint);
    }

    /** Returns the tokens of a second in a step that took so long. */
    public double tokensPerSecond(double stepSeconds) {
        return tokensPerStep / stepSeconds;
    }

    /** Returns the notices on the speed of the run that still hold. */
    public List<String> lastingNotices() {
        return notices.lasting();
    }

    @Override
    public void onWaiting(List<String> missing) {
        status.accept(before -> before.awaiting(missing));
        observations.onWaiting(missing);
    }

    @Override
    public void onBegin(double warmUpSeconds) {
        observations.onBegin(warmUpSeconds);
    }

    @Override
    public void onStarted() {
        observations.onStarted();
        status.accept(before -> before.awaiting(List.of()));
        events.write("started", run.stepsDone(), "the first step begins");
        run.engine().passedOver().ifPresent(why -> events.write("engine-passed-over", run.stepsDone(), why));
    }

    @Override
    public void onTimes(StepTimes times) {
        steps.add(times);
    }

    @Override
    public void onBits(StepBits ofStep) {
        bits.add(ofStep);
    }

    @Override
    public String wordsOf(long step, BitKey output) {
        return OutputPlace.words(run, step, output);
    }

    @Override
    public void onStep(StepResult result, double seconds) {
        if (Double.isNaN(firstLoss)) {
            firstLoss = result.loss();
            firstStep = result.step();
        }
        lastLoss = result.loss();
        metrics.write(result, tokensPerStep, batches.epochs(result.step() + 1), seconds);
        status.accept(before -> before.at(new NodeStatus.Progress(result.step() + 1, result.loss(),
                tokensPerSecond(seconds), notices.lasting())));
        observations.onStep(result, seconds);
    }

    @Override
    public void onValidated(long stepsDone, double loss) {
        validationLoss = loss;
        metrics.writeValidated(stepsDone, loss);
        observations.onValidated(stepsDone, loss);
    }

    @Override
    public void onCheckpoint(long stepsDone, Path checkpoint) {
        lastCheckpoint = checkpoint;
        events.checkpoint(stepsDone, checkpoint);
        observations.onCheckpoint(stepsDone, checkpoint);
    }

    @Override
    public void onCheckpointFailed(long stepsDone, String why) {
        metrics.writeCheckpointFailed(stepsDone, why);
        events.checkpointFailed(stepsDone, why);
        observations.onCheckpointFailed(stepsDone, why);
    }

    @Override
    public void onRecoveryBegins(int epoch, long stepsDone, List<Integer> ranks, String reason) {
        events.recoveryBegins(epoch, stepsDone, ranks, reason);
        observations.onRecoveryBegins(epoch, stepsDone, ranks, reason);
    }

    @Override
    public void onRecovery(Recovery recovery) {
        try {
            RecoveryLog.append(directory.path(), recovery);
        } catch (UncheckedIOException unwritten) { // a lost line does not end the run that has just recovered
            trouble.accept(unwritten.getMessage() + ": " + unwritten.getCause().getMessage());
        }
        events.write(recovery);
        status.accept(before -> before.in(recovery.epoch()));
        observations.onRecovery(recovery);
    }

    @Override
    public void onNotice(Notice notice) {
        events.write(notice);
        notices.add(notice);
        observations.onNotice(notice);
    }

    @Override
    public List<Double> earlierStepSeconds() {
        return earlierStepSeconds;
    }

    @Override
    public long committedSteps() {
        return committedSteps;
    }

    /**
     * Writes the model of a run that is over.
     *
     * @param isAtOnce whether the run was asked to end at once, and so without its model where it was stopped
     */
    public RunEnd end(RunOutcome outcome, boolean isAtOnce) {
        directory.keepToTheEnd();
        if (outcome.failure().isPresent()) {
            events.write("failed", outcome.stepsDone(), outcome.failure().get());
            return new RunEnd.Failed(outcome.failure().get());
        }
        events.write(wasStopped(outcome) ? "stopped" : "done", outcome.stepsDone(), wasStopped(outcome)
                ? "the run was stopped after " + outcome.stepsDone() + " steps"
                : "all " + outcome.stepsDone() + " steps are done");
        if (!run.leavesWeights()) {
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
            directory.close(); // else the lock stays as long as the process
        }
    }
}
