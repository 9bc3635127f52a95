package dev.troupe.cli;

import dev.troupe.cli.options.ConfigOptions;
import dev.troupe.cli.report.Columns;
import dev.troupe.cli.report.ComparisonJson;
import dev.troupe.cli.report.ComparisonReport;
import dev.troupe.cli.report.ComparisonTable;
import dev.troupe.cli.report.Terminal;
import dev.troupe.cli.report.Verdict;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.config.RunSpec;
import dev.troupe.look.compare.Comparison;
import dev.troupe.look.compare.ComparisonException;
import dev.troupe.look.compare.Contestant;
import dev.troupe.look.compare.ScheduleOutcome;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.BuiltInCorpus;
import dev.troupe.schedule.drawing.ChromeTrace;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe compare}: the comparison of schedules, predicted and measured. */
@Command(name = "compare", mixinStandardHelpOptions = true, description = {
        "Predicts and measures schedules on one model, and puts them side by side: a table, comparison.json, trace.json and report.html."})
final class CompareCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options;

    @Option(names = "--schedules", required = true, paramLabel = "a,b,c", description = {
            "Schedules, or paths of plans; with :V for other than the usual number of stages on each rank."})
    private String schedules;

    @Option(names = "--repeats", defaultValue = "3", paramLabel = "N", description = {
            "Runs of each schedule; the runs of all schedules alternate step by step; default: 3."})
    private int repeats;

    @Option(names = "--steps", defaultValue = "5", paramLabel = "N", description = {
            "Measured steps of each run, between others off which costs are read; default: 5."})
    private int steps;

    @Option(names = "--out", paramLabel = "DIR", description = {
            "Where to write: an empty directory, or one that does not exist yet. Default: runs/compare-NAME, or -2 and so on."})
    private Path out;

    private static final String STOPPED = "Stopped: nothing is compared, and nothing is written.";

    private final PrintStream output = System.out;

    @Override
    public Integer call() {
        return StopRequests.interrupting(output, STOPPED, this::compare);
    }

    private int compare() throws InterruptedException {
        List<Contestant> contestants = Contestant.parse(schedules);
        if (contestants.isEmpty() || repeats < 1 || steps < 1) {
            throw new UsageException("compare needs one schedule or more, and --repeats and --steps of at least 1");
        }
        RunSpec spec = options.read();
        Path directory = out == null
                ? RunDirectory.firstFree(Path.of("runs", "compare-" + spec.name()))
                : out;
        RunDirectory.requireFree(directory);
        Comparison comparison = new Comparison(spec, BuiltInCorpus.utf8(), directory, repeats, steps, this::say);
        comparison.check(contestants);
        boolean isNew = !Files.exists(directory);
        List<ScheduleOutcome> outcomes;
        try {
            outcomes = comparison.run(contestants);
            write(spec, outcomes, directory);
        } catch (ComparisonException failure) {
            System.err.println("troupe: " + failure.getMessage());
            return ExitCode.RUN_FAILED;
        } finally {
            if (isNew) {
                deleteWhereEmpty(directory);
            }
        }
        output.printf(Locale.ROOT, "%n%d ranks, %d microbatches of %d a step, engine %s%n%n",
                spec.parallel().pipeline(),
                spec.microbatchCount(), spec.training().microbatchSize(), outcomes.getFirst().engine());
        Terminal terminal = Terminal.ofOutput();
        output.println(ComparisonTable.of(outcomes, terminal));
        output.println();
        Verdict verdict = Verdict.of(spec, outcomes);
        output.println(terminal.bold(Columns.wrapped(verdict.sentence(), terminal.lineColumns(), "")));
        if (!verdict.remark().isEmpty()) {
            output.println(Columns.wrapped(verdict.remark(), terminal.lineColumns(), ""));
        }
        output.println(Columns.wrapped("The drawing is in " + directory.resolve("report.html")
                + "; the figures are in comparison.json next to it, and trace.json opens in Perfetto.",
                terminal.lineColumns(), ""));
        return ExitCode.DONE;
    }

    private void say(String what) {
        output.println(what);
        output.flush();
    }

    private static void write(RunSpec spec, List<ScheduleOutcome> outcomes, Path directory) {
        try {
            Files.createDirectories(directory);
            Files.writeString(directory.resolve("config.conf"), spec.toHocon());
            Files.writeString(directory.resolve("comparison.json"), ComparisonJson.of(spec, outcomes));
            Files.writeString(directory.resolve("trace.json"), ChromeTrace.write(outcomes.stream()
                    .flatMap(outcome -> Stream.of(outcome.prediction().timeline(), outcome.measuredTimeline()))
                    .toList()));
            Files.writeString(directory.resolve("report.html"), ComparisonReport.of(spec, outcomes));
        } catch (IOException failure) {
            throw new ComparisonException(
                    "the comparison is done, but its files cannot be written (" + FileReason.of(failure)
                            + "): " + directory + " holds only some of them; delete it, and choose another with --out");
        }
    }

    /** Deletes the directory if it is empty, as after a run that failed or schedules that disagree. */
    private static void deleteWhereEmpty(Path directory) {
        try {
            if (RunDirectory.isFree(directory)) {
                Files.deleteIfExists(directory);
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
