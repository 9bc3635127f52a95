package dev.troupe.cli.progress;

import dev.troupe.batch.Batches;
import dev.troupe.cli.report.Terminal;
import dev.troupe.config.spec.DataSpec;
import dev.troupe.look.observe.RunObserver;
import dev.troupe.look.output.RunJournal;
import dev.troupe.model.spec.Axis;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.watch.LastingNotices;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.run.news.Recovery;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;
import dev.troupe.run.news.RunOutcome;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The report of a run: the files of its directory, a progress line for a person, and a summary at the end.
 */
public final class TrainingReport implements RunListener, AutoCloseable {
    private final PrintStream output;
    private final RunJournal journal;
    private final ProgressLine progress;
    private final PrintStream errors;
    private final int vocabularySize;
    private final Batches batches;
    private final boolean showsEpochs;
    private final String name;
    /** Whether the run resumed after its last step. */
    private final boolean wasDone;
    private final LastingNotices notices = new LastingNotices();
    /** Written by the coordinator's thread, read by the main thread once the run is over. */
    private volatile List<String> lasting = List.of();

    private TrainingReport(PreparedRun run, PrintStream output,
            Function<Consumer<String>, RunJournal> journal) {
        this.output = output;
        this.vocabularySize = run.model().size(Axis.VOCABULARY);
        this.batches = run.batches();
        this.showsEpochs = run.spec().data().order() == DataSpec.Order.EPOCHS;
        this.name = run.spec().name();
        this.wasDone = RunSummary.isDone(run);
        Terminal terminal = Terminal.ofOutput();
        this.progress = new ProgressLine(output, terminal, run.spec().training().steps(), System::nanoTime);
        this.errors = System.err;
        this.journal = journal.apply(this::print);
        if (terminal.isTerminal() && isErrorShownThere()) {
            System.setErr(progress.shareTerminal(errors));
        }
    }

    /** Returns the report of a run that begins, or resumes from a checkpoint. */
    static TrainingReport begin(PreparedRun run, List<RunObserver> observers, PrintStream output) {
        return new TrainingReport(run, output, trouble -> RunJournal.begin(run, observers, trouble));
    }

    /** Returns the report of a run that another process reported before. */
    static TrainingReport takeOver(PreparedRun run, List<RunObserver> observers, PrintStream output) {
        TrainingReport report = new TrainingReport(run, output,
                trouble -> RunJournal.takeOver(run, observers, trouble));
        report.progress.start();
        return report;
    }

    /** The files of the run. */
    RunJournal journal() {
        return journal;
    }

    private static boolean isErrorShownThere() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/1"))
                    .equals(Files.readSymbolicLink(Path.of("/proc/self/fd/2")));
        } catch (IOException _) {
            return true; // not on Linux: a line too many is better than two in one
        }
    }

    @Override
    public void on(RunNews news) {
        journal.on(news);
        switch (news) {
            case RunNews.Waiting(List<String> missing) -> output.println(waitingFor(missing));
            case RunNews.Begun(double warmUpSeconds) when warmUpSeconds > 0 -> output.printf(Locale.ROOT,
                    "Warm-up: each kind of kernel ran once, in %.1f s.%n", warmUpSeconds);
            case RunNews.Started _ -> progress.start();
            case RunNews.StepDone(StepResult result, double seconds) -> show(result, seconds);
            case RunNews.Validated(long stepsDone, double loss) ->
                print(String.format(Locale.ROOT, "after %d steps: validation loss %.4f", stepsDone, loss));
            case RunNews.Recovered(Recovery recovery) -> print(String.format(Locale.ROOT,
                    "%s in step %d, after %d ms: %s", restarted(recovery.ranks()), recovery.step(),
                    recovery.caughtUpAtMillis() - recovery.detectedAtMillis(), recovery.reason()));
            case RunNews.Noticed(Notice notice) -> show(notice);
            case RunNews.CheckpointFailed(_, long stepsDone, String why) -> print("the checkpoint after " + stepsDone
                    + " steps could not be written, and the run continues without it: " + why);
            default -> {
                // in the files alone
            }
        }
    }

    public static String waitingFor(List<String> missing) {
        return "waiting for " + (missing.size() == 1 ? "node " : "nodes ") + String.join(", ", missing);
    }

    private void show(StepResult result, double seconds) {
        if (result.skipped()) {
            progress.end();
            output.printf(Locale.ROOT,
                    "step %d is skipped: its gradients overflowed with a loss scale of %s; the weights stay%n",
                    result.step(), result.lossScale());
        }
        progress.show(result.step() + 1, result.loss(), journal.tokensPerSecond(seconds),
                showsEpochs
                        ? String.format(Locale.ROOT, "   %.2f epochs of the data", batches.epochs(result.step() + 1))
                        : "");
    }

    /** A recovery without ranks only resent lost messages. */
    private static String restarted(List<Integer> ranks) {
        return switch (ranks.size()) {
            case 0 -> "messages were sent again, and no rank was restarted,";
            case 1 -> "rank " + ranks.getFirst() + " was restarted";
            default -> "ranks " + ranks.stream().map(String::valueOf).collect(Collectors.joining(", "))
                    + " were restarted";
        };
    }

    private void show(Notice notice) {
        notices.add(notice);
        lasting = notices.sentences();
        if (notice.kind() != Notice.Kind.ALL_SLOWER && notice.kind() != Notice.Kind.ALL_SLOWER_ENDED) {
            print("step " + notice.stepsDone() + ": " + notice.sentence());
        }
    }

    private void print(String sentence) {
        progress.end();
        output.println(sentence);
    }

    /** Prints the notices that are still valid at the end of the run. */
    void printNotices() {
        lasting.forEach(sentence -> output.println("Until the end: " + sentence));
    }

    void endLine() {
        progress.end();
    }

    void printEnd(RunOutcome outcome) {
        output.println();
        if (wasDone) {
            output.printf(Locale.ROOT, "%s is done after %d steps; -s training.steps=N continues it.%n", name,
                    outcome.stepsDone());
        } else if (!Double.isNaN(journal.firstLoss()) && !Double.isNaN(journal.lastLoss())) {
            output.printf(Locale.ROOT, "The loss %s and ended at %.4f%s; guessing would have %.4f.%n",
                    journal.firstStep() == 0
                            ? String.format(Locale.ROOT, "began at %.4f", journal.firstLoss())
                            : String.format(Locale.ROOT, "was %.4f in step %d, from which this run resumed,",
                                    journal.firstLoss(), journal.firstStep()),
                    journal.lastLoss(),
                    Double.isNaN(journal.validationLoss())
                            ? ""
                            : String.format(Locale.ROOT, ", the validation loss at %.4f", journal.validationLoss()),
                    Math.log(vocabularySize));
        }
        output.printf(Locale.ROOT, "After %d steps: %s (the model), %s (every step), %s (to resume from)%n",
                outcome.stepsDone(), journal.directory().model(), journal.directory().metrics(),
                journal.lastCheckpoint().orElseThrow());
        printNotices();
    }

    /** Prints the end of a run that was stopped without a checkpoint of its last steps. */
    void printCutShort(RunOutcome outcome) {
        output.println();
        output.printf(Locale.ROOT, "After %d steps: %s (every step)%s%n", outcome.stepsDone(),
                journal.directory().metrics(), journal.lastCheckpoint()
                        .map(last -> ", " + last + " (to resume; the steps after it are lost)").orElse(""));
    }

    @Override
    public void close() {
        System.setErr(errors);
        journal.close();
    }
}
