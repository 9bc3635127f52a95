package dev.troupe.cli.progress;

import dev.troupe.chaos.RecoveryLog;
import dev.troupe.checkpoint.CheckpointException;
import dev.troupe.cli.options.NextCommand;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.cluster.ClusterRun;
import dev.troupe.cluster.status.NodeStatus;
import dev.troupe.observe.RunListener;
import dev.troupe.observe.RunOutcome;
import dev.troupe.output.TrainedModel;
import dev.troupe.prepare.PreparedRun;
import dev.troupe.prepare.RunDirectory;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The console and the files of the coordinator's process: the directory of the run, its metrics, and at the end its model.
 */
public final class CoordinatorConsole implements ClusterRun.Leader, AutoCloseable {
    /** The line of a process that takes a run over from another coordinator. */
    public static final String TAKEN_OVER = "The process that led the run is gone: this one leads it from here.";

    /** A coordinator that is cut off from the others stops by itself, which takes some seconds. */
    private static final Duration PARTING = Duration.ofSeconds(15);

    private final PreparedRun run;
    private final PrintStream output;
    private RunDirectory directory;
    private TrainingReport report;

    public CoordinatorConsole(PreparedRun run, PrintStream output) {
        this.run = run;
        this.output = output;
    }

    @Override
    public synchronized RunListener lead(Consumer<UnaryOperator<NodeStatus>> status) {
        directory = RunDirectory.open(run.request().output());
        report = TrainingReport.begin(run, directory, output, status);
        try {
            if (run.beginsAgain()) {
                Files.deleteIfExists(directory.path().resolve(RecoveryLog.FILE));
            }
            Files.writeString(directory.config(), run.spec().toHocon());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return report;
    }

    @Override
    public void waitFor(List<String> missing, Consumer<UnaryOperator<NodeStatus>> status) {
        status.accept(before -> before.awaiting(missing));
        output.println(TrainingReport.waitingFor(missing));
    }

    @Override
    public synchronized RunListener takeOver(Consumer<UnaryOperator<NodeStatus>> status) {
        if (!Files.exists(run.request().output().resolve(RunDirectory.CONFIG))) {
            return lead(status); // the former coordinator was lost before the run began
        }
        directory = RunDirectory.takeOver(run.request().output(), PARTING);
        report = TrainingReport.takeOver(run, directory, output, status);
        output.println(TAKEN_OVER);
        return report;
    }

    /** Returns whether this process has become the coordinator's. */
    public synchronized boolean leads() {
        return report != null;
    }

    public synchronized RunDirectory directory() {
        return directory;
    }

    /**
     * Prints how the run ended, and exports its model; returns the exit code.
     *
     * @param requests
     *            requests that may cut the export short
     * @param next
     *            the command that resumes a stopped run, where this process is to print it
     */
    public synchronized int end(RunOutcome outcome, StopRequests requests, Optional<NextCommand> next) {
        requests.concluding();
        directory.keepToTheEnd();
        report.endLine();
        if (outcome.failure().isPresent()) {
            System.err.println("troupe: the run failed: " + outcome.failure().get());
            report.lastCheckpoint().ifPresent(checkpoint -> System.err
                    .println("        It can go on from " + checkpoint + " with --resume."));
            return ExitCode.RUN_FAILED;
        }
        boolean wasStopped = outcome.stepsDone() < run.spec().training().steps();
        if (!run.leavesWeights()) {
            output.println("The engine computed nothing, so there is no model and no checkpoint; the times are in "
                    + directory.metrics() + ".");
            report.printNotices();
            return wasStopped ? ExitCode.STOPPED : ExitCode.DONE;
        }
        Path newest = directory.checkpoint(outcome.stepsDone());
        boolean isKept = report.lastCheckpoint().filter(last -> last.endsWith(newest.getFileName())).isPresent();
        if (wasStopped && (requests.isAskedTwice() || !isKept)) {
            report.printCutShort(outcome, directory);
            sayHowItGoesOn(next);
            return ExitCode.STOPPED;
        }
        Path last = report.lastCheckpoint().orElseThrow();
        try {
            TrainedModel.export(run, last, directory.model());
        } catch (WeightException | CheckpointException unwritten) {
            System.err
                    .println("troupe: the run is done, but its model could not be written: " + unwritten.getMessage());
            System.err.println("        Once that is put right, --resume " + directory.path() + " writes it.");
            return ExitCode.RUN_FAILED;
        }
        report.printEnd(outcome, directory);
        if (wasStopped) {
            sayHowItGoesOn(next);
            return ExitCode.STOPPED;
        }
        SampleText.print(run, last, output, requests::isAsked);
        return ExitCode.DONE;
    }

    private void sayHowItGoesOn(Optional<NextCommand> next) {
        next.ifPresent(command -> output
                .println(command.sentence(directory.path(), report.lastCheckpoint().isPresent())));
    }

    @Override
    public synchronized void close() {
        if (report != null) {
            report.close();
        }
        if (directory != null) {
            directory.close();
        }
    }
}
