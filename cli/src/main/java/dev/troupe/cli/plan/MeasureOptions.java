package dev.troupe.cli.plan;

import dev.troupe.cli.options.OutputFile;
import dev.troupe.cli.report.Terminal;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.look.compare.ComparisonException;
import dev.troupe.look.compare.PlanTrial;
import dev.troupe.look.compare.PlanTrial.Measured;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.planner.PlanAnswer;
import dev.troupe.plan.planner.PlanRequest;
import dev.troupe.plan.planner.Planner;
import dev.troupe.plan.planner.PricedPlan;
import dev.troupe.plan.prepare.BuiltInCorpus;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/** The options that measure the best plans, and the measurement. */
final class MeasureOptions {
    private static final String STOPPED = "Stopped: nothing is measured, and no report is written.";

    @Option(names = "--measure", paramLabel = "N", description = {
            "Runs the N best plans on this machine, their steps alternately, and prints predicted and measured steps; default: none."})
    private Integer count;

    @Option(names = "--emulated", description = {
            "With --measure: runs them on the engine emulated, with the times by which they are predicted."})
    private boolean emulated;

    @Option(names = "--steps", paramLabel = "N", defaultValue = "9", description = {
            "With --measure: measured steps of each plan; default: 9."})
    private int steps;

    @Option(names = "--report", paramLabel = "FILE", description = {
            "With --measure: where to write the answer with its measured steps as JSON; default: runs/plan-NAME.json."})
    private Path report;

    /**
     * Checks the options before a search.
     *
     * @param top the plans that are ranked
     * @param asynchronous whether they may have overlapping steps
     */
    void require(int top, boolean asynchronous) {
        if (report != null && Files.isDirectory(report)) {
            throw new UsageException("--report must be a file, but " + report + " is a directory");
        }
        if (count == null) {
            if (emulated || report != null) {
                throw new UsageException((emulated ? "--emulated" : "--report")
                        + " is of measured plans: give their number with --measure");
            }
            return;
        }
        if (count < 1 || count > top || steps < 1) {
            throw new UsageException("--measure must be 1 to the " + top + " plans of --top, and --steps 1 or more, but"
                    + " found " + count + " and " + steps);
        }
        if (asynchronous) {
            throw new UsageException("--measure takes plans that do one step after the other: leave out --asynchronous,"
                    + " or measure its plan with ./troupe train");
        }
    }

    /** Measures the best plans if that was asked for; prints the answer as JSON, or the table of measured plans. */
    int run(Planner planner, PlanRequest request, PlanAnswer answer, boolean asJson, PrintStream output) {
        if (count == null) {
            output.print(asJson ? PlanJson.of(request, answer, List.of()) : "");
            return ExitCode.DONE;
        }
        return StopRequests.interrupting(output, STOPPED, () -> measure(planner, request, answer, asJson, output));
    }

    private int measure(Planner planner, PlanRequest request, PlanAnswer answer, boolean asJson, PrintStream output)
            throws InterruptedException {
        PlanTrial trial = new PlanTrial(BuiltInCorpus.utf8(), steps);
        List<PricedPlan> chosen = answer.best().stream().limit(count)
                .map(plan -> emulated ? planner.emulated(plan) : plan).toList();
        List<PricedPlan> fitting = trial.fitting(chosen);
        if (fitting.isEmpty()) {
            throw new UsageException("the best plan does not fit the free memory of this machine with all its ranks:"
                    + " take --emulated, or a smaller model");
        }
        List<Measured> measured;
        try {
            measured = trial.run(fitting);
        } catch (ComparisonException failure) {
            System.err.println("troupe: " + failure.getMessage());
            return ExitCode.RUN_FAILED;
        }
        Path file = report == null
                ? Path.of("runs", "plan-" + answer.best().getFirst().spec().name() + ".json")
                : report;
        String json = PlanJson.of(request, answer, measured);
        OutputFile.write("--report", file, json);
        output.print(asJson
                ? json
                : TrialTable.of(answer, measured, chosen.size(), Terminal.ofOutput()) + "Written to " + file + ".\n");
        return ExitCode.DONE;
    }
}
