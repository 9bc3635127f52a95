package dev.troupe.cli.progress;

import dev.troupe.chaos.RecoveryLog;
import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.cluster.status.NodeStatus;
import dev.troupe.config.spec.DataSpec;
import dev.troupe.batch.Batches;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.observe.Recovery;
import dev.troupe.protocol.StepResult;
import dev.troupe.model.spec.Axis;
import dev.troupe.observe.RunListener;
import dev.troupe.observe.RunOutcome;
import dev.troupe.output.EventsFile;
import dev.troupe.output.MetricsLog;
import dev.troupe.prepare.PreparedRun;
import dev.troupe.prepare.RunDirectory;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * The report of a run: a progress line for a person, a line for each step in {@code metrics.jsonl}, and a summary at
 * the end.
 */
public final class TrainingReport implements RunListener, AutoCloseable {
    private final PrintStream output;
    private final Path directory;
    private final Consumer<UnaryOperator<NodeStatus>> status;
    private final MetricsLog metrics;
    private final ProgressLine progress;
    private final PrintStream errors;
    private final long tokensPerStep;
    private final int vocabularySize;
    private final EventsFile events;
    private final Notices notices = new Notices();
    private List<Double> earlierStepSeconds = List.of();
    private long committedSteps;
    private final Batches batches;
    private final boolean showsEpochs;

    // Written by the coordinator's thread, read by the main thread once the run is over.
    private volatile double firstLoss = Double.NaN;
    private volatile long firstStep;
    private volatile double lastLoss = Double.NaN;
    private volatile double validationLoss = Double.NaN;
    private volatile Path lastCheckpoint;

    private TrainingReport(PreparedRun run, RunDirectory directory, PrintStream output,
            Consumer<UnaryOperator<NodeStatus>> status, Function<Consumer<String>, MetricsLog> metrics) {
        this.output = output;
        this.directory = directory.path();
        this.status = status;
        this.metrics = metrics.apply(this::say);
        this.events = new EventsFile(directory.path(), this::say);
        this.tokensPerStep = (long) run.spec().training().globalBatchSize() * run.batches().sequenceLength();
        this.vocabularySize = run.model().size(Axis.VOCABULARY);
        this.batches = run.batches();
        this.showsEpochs = run.spec().data().order() == DataSpec.Order.EPOCHS;
        this.progress = new ProgressLine(output, isTerminal(), run.spec().training().steps(), System::nanoTime);
        this.errors = System.err;
        if (isTerminal() && isErrorShownThere()) {
            System.setErr(progress.beside(errors));
        }
    }

    /** Returns the report of a run that begins, or resumes from a checkpoint. */
    static TrainingReport begin(PreparedRun run, RunDirectory directory, PrintStream output,
            Consumer<UnaryOperator<NodeStatus>> status) {
        TrainingReport report = new TrainingReport(run, directory, output, status,
                trouble -> MetricsLog.open(directory.metrics(), run.stepsDone(), trouble));
        if (run.request().continuesInPlace()) {
            report.lastCheckpoint = directory.checkpoint(run.stepsDone());
        }
        report.readFirstLoss(directory.metrics(), 0);
        return report;
    }

    /** Returns the report of a run on which another process reported until now. */
    static TrainingReport takeOver(PreparedRun run, RunDirectory directory, PrintStream output,
            Consumer<UnaryOperator<NodeStatus>> status) {
        TrainingReport report = new TrainingReport(run, directory, output, status,
                trouble -> MetricsLog.takeOver(directory.metrics(), trouble));
        report.readFirstLoss(directory.metrics(), 0);
        if (Double.isNaN(report.firstLoss)) { // the run resumed from a checkpoint of another directory
            report.readFirstLoss(directory.metrics(), run.stepsDone());
        }
        Checkpoint.newestSteps(directory.path())
                .ifPresent(steps -> report.lastCheckpoint = directory.checkpoint(steps));
        report.earlierStepSeconds = MetricsLog.stepSeconds(directory.metrics());
        report.committedSteps = report.metrics.nextStep();
        report.progress.start();
        return report;
    }

    private void readFirstLoss(Path file, long step) {
        MetricsLog.lossOf(file, step).ifPresent(loss -> {
            firstLoss = loss;
            firstStep = step;
        });
    }

    private static boolean isErrorShownThere() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/1"))
                    .equals(Files.readSymbolicLink(Path.of("/proc/self/fd/2")));
        } catch (IOException _) {
            return true; // no Linux: a line too many is better than two in one
        }
    }

    private static boolean isTerminal() {
        return System.console() != null && System.console().isTerminal();
    }

    @Override
    public void onWaiting(List<String> missing) {
        status.accept(before -> before.awaiting(missing));
        output.println(waitingFor(missing));
    }

    public static String waitingFor(List<String> missing) {
        return "waiting for " + (missing.size() == 1 ? "node " : "nodes ") + String.join(", ", missing);
    }

    @Override
    public void onBegin(double warmUpSeconds) {
        if (warmUpSeconds > 0) {
            output.printf(Locale.ROOT, "Warm-up: each kind of kernel ran once, in %.1f s.%n", warmUpSeconds);
        }
    }

    @Override
    public void onStarted() {
        status.accept(before -> before.awaiting(List.of()));
        progress.start();
    }

    @Override
    public void onStep(StepResult result, double seconds) {
        if (Double.isNaN(firstLoss)) {
            firstLoss = result.loss();
            firstStep = result.step();
        }
        lastLoss = result.loss();
        double epochs = batches.epochs(result.step() + 1);
        metrics.write(result, tokensPerStep, epochs, seconds);
        if (result.skipped()) {
            progress.end();
            output.printf(Locale.ROOT,
                    "step %d is skipped: its gradients overflowed with a loss scale of %s; the weights stay%n",
                    result.step(), result.lossScale());
        }
        double tokensPerSecond = tokensPerStep / seconds;
        progress.show(result.step() + 1, result.loss(), tokensPerSecond,
                showsEpochs ? String.format(Locale.ROOT, "   %.2f epochs of the data", epochs) : "");
        status.accept(
                before -> before.at(new NodeStatus.Progress(result.step() + 1, result.loss(), tokensPerSecond,
                        notices.lasting())));
    }

    @Override
    public void onValidated(long stepsDone, double loss) {
        validationLoss = loss;
        metrics.writeValidated(stepsDone, loss);
        progress.end();
        output.printf(Locale.ROOT, "after %d steps: validation loss %.4f%n", stepsDone, loss);
    }

    @Override
    public void onCheckpoint(long stepsDone, Path directory) {
        lastCheckpoint = directory;
        events.checkpoint(stepsDone, directory);
    }

    @Override
    public void onRecovery(Recovery recovery) {
        try {
            RecoveryLog.append(directory, recovery);
        } catch (UncheckedIOException unwritten) { // a lost line does not end the run that has just recovered
            say(unwritten.getMessage() + ": " + unwritten.getCause().getMessage());
        }
        events.write(recovery);
        status.accept(before -> before.in(recovery.epoch()));
        progress.end();
        output.printf(Locale.ROOT, "%s in step %d, after %d ms: %s%n", restarted(recovery.ranks()), recovery.step(),
                recovery.caughtUpAtMillis() - recovery.detectedAtMillis(), recovery.reason());
    }

    /** A recovery without ranks sent lost messages again. */
    private static String restarted(List<Integer> ranks) {
        return switch (ranks.size()) {
            case 0 -> "messages were sent again, and no rank was restarted,";
            case 1 -> "rank " + ranks.getFirst() + " was restarted";
            default -> "ranks " + ranks.stream().map(String::valueOf).collect(Collectors.joining(", "))
                    + " were restarted";
        };
    }

    @Override
    public void onNotice(Notice notice) {
        events.write(notice);
        notices.add(notice);
        if (notice.kind() != Notice.Kind.ALL_SLOWER && notice.kind() != Notice.Kind.ALL_SLOWER_ENDED) {
            say("step " + notice.stepsDone() + ": " + notice.sentence());
        }
    }

    @Override
    public List<Double> earlierStepSeconds() {
        return earlierStepSeconds;
    }

    @Override
    public long committedSteps() {
        return committedSteps;
    }

    @Override
    public void onCheckpointFailed(long stepsDone, String why) {
        metrics.writeCheckpointFailed(stepsDone, why);
        events.checkpointFailed(stepsDone, why);
        say("the checkpoint after " + stepsDone + " steps could not be written, and the run goes on without it: "
                + why);
    }

    private void say(String sentence) {
        progress.end();
        output.println(sentence);
    }

    /** Prints the notices on the run's speed that still hold at its end. */
    void printNotices() {
        notices.lasting().forEach(sentence -> output.println("To the end: " + sentence));
    }

    void endLine() {
        progress.end();
    }

    Optional<Path> lastCheckpoint() {
        return Optional.ofNullable(lastCheckpoint);
    }

    void printEnd(RunOutcome outcome, RunDirectory directory) {
        output.println();
        if (!Double.isNaN(firstLoss)) {
            output.printf(Locale.ROOT, "The loss %s and ended at %.4f%s; guessing would have %.4f.%n",
                    firstStep == 0
                            ? String.format(Locale.ROOT, "began at %.4f", firstLoss)
                            : String.format(Locale.ROOT, "was %.4f in step %d, with which this run went on,", firstLoss,
                                    firstStep),
                    lastLoss,
                    Double.isNaN(validationLoss)
                            ? ""
                            : String.format(Locale.ROOT, ", the validation loss at %.4f", validationLoss),
                    Math.log(vocabularySize));
        }
        output.printf(Locale.ROOT, "After %d steps: %s (the model), %s (every step), %s (to go on from)%n",
                outcome.stepsDone(), directory.model(), directory.metrics(), lastCheckpoint);
        printNotices();
    }

    /** Prints the end of a run that was stopped before the checkpoint of its last steps was written. */
    void printCutShort(RunOutcome outcome, RunDirectory directory) {
        output.println();
        output.printf(Locale.ROOT, "After %d steps: %s (every step)%s%n", outcome.stepsDone(), directory.metrics(),
                lastCheckpoint == null ? "" : ", " + lastCheckpoint + " (to resume; the steps after it are lost)");
    }

    @Override
    public void close() {
        System.setErr(errors);
        metrics.close();
    }
}
