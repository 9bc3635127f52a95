package dev.troupe.cli.progress;

import dev.troupe.cli.options.NextCommand;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.cli.watch.Meters;
import dev.troupe.look.output.RunEnd;
import dev.troupe.look.output.RunJournal;
import dev.troupe.look.page.RunPage;
import dev.troupe.plan.checkpoint.RunCompanions;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.run.cluster.Leader;
import dev.troupe.run.http.Routes;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunOutcome;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The console and the files of the coordinator's process: the directory of the run, its metrics, and at the end its model.
 */
public final class CoordinatorConsole implements Leader, AutoCloseable {
    /** The line of a process that takes a run over from another coordinator. */
    public static final String TAKEN_OVER = "The process that led the run is gone: this one leads it from here.";

    private final PreparedRun run;
    private final PrintStream output;
    private final Meters meters;
    private TrainingReport report;

    /**
     * Creates the console of a process that may lead a run.
     *
     * @param meters the meters of the run, if this process leads it
     */
    public CoordinatorConsole(PreparedRun run, PrintStream output, Meters meters) {
        this.run = run;
        this.output = output;
        this.meters = meters;
    }

    @Override
    public synchronized RunListener lead() {
        report = TrainingReport.begin(run, meters.observers(), output);
        return report;
    }

    @Override
    public void loseDevice(String why) {
        System.err.println("troupe: this node ends with exit code " + ExitCode.TRY_AGAIN
                + ", since its process cannot use its device again: " + why);
        // Not System.exit, since its hooks would free memory of a device that no longer responds.
        Runtime.getRuntime().halt(ExitCode.TRY_AGAIN);
    }

    @Override
    public Routes page() {
        return meters.addTo(new RunPage(run.request().output()).routes());
    }

    @Override
    public void waitFor(List<String> missing) {
        output.println(TrainingReport.waitingFor(missing));
    }

    @Override
    public synchronized TakenOver takeOver() {
        boolean hasBegun = Files.exists(run.request().output().resolve(RunDirectory.CONFIG));
        report = TrainingReport.takeOver(run, meters.observers(), output);
        if (hasBegun) {
            output.println(TAKEN_OVER);
        }
        return new TakenOver(report, report.journal().earlierSteps());
    }

    public synchronized boolean leads() {
        return report != null;
    }

    public synchronized RunDirectory directory() {
        return report.journal().directory();
    }

    /**
     * Prints how the run ended, and exports its model; returns the exit code.
     *
     * @param requests requests that may cut the export short
     * @param next the command that resumes a stopped run, if this process prints it
     */
    public synchronized int end(RunOutcome outcome, StopRequests requests, Optional<NextCommand> next) {
        requests.concluding();
        report.endLine();
        RunJournal journal = report.journal();
        boolean wasStopped = journal.wasStopped(outcome);
        return switch (journal.end(outcome, requests.isAskedTwice())) {
            case RunEnd.Failed(String reason) -> {
                System.err.println("troupe: the run failed: " + reason);
                journal.lastCheckpoint().ifPresent(checkpoint -> System.err
                        .println("        It can resume from " + checkpoint + " with --resume."));
                yield ExitCode.RUN_FAILED;
            }
            case RunEnd.WithoutWeights() -> {
                output.println("The engine computed nothing, so there is no model and no checkpoint; the times are in "
                        + directory().metrics() + ".");
                report.printNotices();
                yield wasStopped ? ExitCode.STOPPED : ExitCode.DONE;
            }
            case RunEnd.CutShort() -> {
                report.printCutShort(outcome);
                printHowToResume(next);
                yield ExitCode.STOPPED;
            }
            case RunEnd.ModelUnwritten(String reason) -> {
                System.err.println("troupe: the run is done, but its model could not be written: " + reason);
                System.err.println("        Once that is put right, --resume " + directory().path() + " writes it.");
                yield ExitCode.RUN_FAILED;
            }
            case RunEnd.Written(_, Path checkpoint) -> {
                report.printEnd(outcome);
                if (run.model().lora().isEmpty()) { // a directory of adapters has no tokenizer
                    RunCompanions.in(directory().path()).sentence().ifPresent(output::println);
                }
                if (wasStopped) {
                    printHowToResume(next);
                    yield ExitCode.STOPPED;
                }
                SampleText.print(run, checkpoint, output, requests::isAsked);
                yield ExitCode.DONE;
            }
        };
    }

    private void printHowToResume(Optional<NextCommand> next) {
        next.ifPresent(command -> output
                .println(command.sentence(directory().path(), report.journal().lastCheckpoint().isPresent())));
    }

    @Override
    public synchronized void close() {
        if (report != null) {
            report.close();
        }
    }
}
