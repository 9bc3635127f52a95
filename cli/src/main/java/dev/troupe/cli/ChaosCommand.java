package dev.troupe.cli;

import dev.troupe.cli.options.ConfigOptions;
import dev.troupe.cli.report.ChaosJson;
import dev.troupe.cli.report.ChaosReport;
import dev.troupe.cli.report.ChaosTable;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.config.RunSpec;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.look.chaos.AskedFaults;
import dev.troupe.look.chaos.ChaosResult;
import dev.troupe.look.chaos.KeptThroughput.Basis;
import dev.troupe.look.chaos.RandomFaults;
import dev.troupe.look.chaos.RunRecord;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe chaos}: the comparison of a run with faults and the same run without. */
@Command(name = "chaos", mixinStandardHelpOptions = true, description = {
        "Trains without faults and then with them, and compares every loss, every weight, and the time to recover. In one process, or, if CONFIG names nodes, in one process for each node."}, footer = {
                "", "Faults in CONFIG are injected too. A fault is: kind [stage=2] [rank=0] [step=5] [microbatch=3]",
                "[at=F|I|W|B|send|receive|reduce|optimizer|commit|checkpoint] [factor=4]",
                "[seconds=1] [probability=0.1] [seed=1] [times=1]; docs/faults.md has the kinds.", "",
                "Throughput kept: in several processes, relative to the undisturbed run; in one process, in which the",
                "code of the second run is compiled already, relative to the median of the steps that no fault touched.",
                "",
                "Exit codes: 0 every fault struck and no result differs; 1 a result differs, or a fault did not",
                "strike; 2 the request was wrong."})
final class ChaosCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options;

    @Option(names = "--fault", paramLabel = "FAULT", description = "A fault; may be repeated.")
    private List<String> faults = List.of();

    @Option(names = "--random", description = "Draws faults in addition to the named ones.")
    private boolean random;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = {
            "The seed of the drawn faults; default: 1."})
    private long seed;

    @Option(names = "--mean-time", paramLabel = "SECONDS", defaultValue = "20", description = {
            "Mean time between drawn faults; default: 20."})
    private double meanSeconds;

    @Option(names = "--out", paramLabel = "DIR", description = {
            "Where to write: an empty directory, or one that does not exist yet. Default: runs/chaos-NAME, or -2 and so on."})
    private Path out;

    private static final String STOPPED = "Stopped: nothing is compared.";

    private final PrintStream output = System.out;

    @Override
    public Integer call() throws InterruptedException {
        return StopRequests.duringRuns(output, STOPPED, this::run);
    }

    private int run() throws InterruptedException {
        RunSpec spec = options.read();
        List<FaultSpec> named = new ArrayList<>(spec.faults());
        faults.forEach(text -> named.add(FaultSpec.parse(text, "--fault", "command line")));
        if (named.isEmpty() && !random) {
            throw new UsageException("chaos needs a fault: --fault \"exception stage=1 step=2\", --random, or faults"
                    + " in the file; docs/faults.md has the kinds");
        }
        if (!(meanSeconds > 0)) {
            throw new UsageException("--mean-time must be above 0, but found " + meanSeconds);
        }
        Path directory = out == null ? RunDirectory.firstFree(Path.of("runs", "chaos-" + spec.name())) : out;
        RunDirectory.requireFree(directory);
        ChaosRun run = new ChaosRun(spec, directory);
        RandomFaults.Places places;
        try (PreparedRun prepared = run.prepare(named)) {
            places = RandomFaults.Places.of(prepared.plan(), spec.training().steps());
        }
        say("The run without faults:");
        ChaosRun.Ended undisturbed = run.train("undisturbed", List.of());
        if (undisturbed.failure().isPresent()) {
            return undisturbed.exitCode();
        }
        AskedFaults asked = new AskedFaults(named,
                random ? draw(spec, undisturbed.record(), places) : List.of());
        if (asked.all().isEmpty()) {
            output.printf(Locale.ROOT, "No fault was tested: the run took %.1f s, and none was drawn in this time;"
                    + " ask for more steps, a shorter --mean-time or another --seed%n", undisturbed.record().seconds());
            return ExitCode.RUN_FAILED;
        }
        say("The run with faults:");
        asked.all().forEach(fault -> output.println("  " + fault));
        ChaosRun.Ended disturbed = run.train("disturbed", asked.all());
        if (disturbed.exitCode() == ExitCode.STOPPED) {
            return ExitCode.STOPPED;
        }
        ChaosResult result = ChaosResult.of(undisturbed.record(), disturbed.record(), asked, disturbed.failure(),
                ChaosRun.weights(spec), spec.cluster().isPresent() ? Basis.UNDISTURBED_RUN : Basis.OWN_STEPS);
        try {
            write(spec.with(asked.all()), result, directory);
        } catch (IOException failure) {
            System.err.println("troupe: both runs are done, but their comparison cannot be written to " + directory
                    + " (" + FileReason.of(failure) + ")");
            return ExitCode.RUN_FAILED;
        }
        output.println();
        output.println(ChaosTable.of(result));
        output.println();
        output.println(
                "The drawing is in " + directory.resolve("chaos.html") + "; the figures are in chaos.json next to it.");
        return result.isProven() ? ExitCode.DONE : ExitCode.RUN_FAILED;
    }

    private void say(String what) {
        output.println();
        output.println(what);
        output.flush();
    }

    /**
     * Draws faults and prints the command that repeats them. It names each fault, since the steps that are struck depend on
     * the measured time of a step.
     */
    private List<FaultSpec> draw(RunSpec spec, RunRecord undisturbed, RandomFaults.Places places) {
        List<FaultSpec> drawn = RandomFaults.draw(seed, meanSeconds,
                undisturbed.seconds() / Math.max(1, undisturbed.steps().size()), spec.cluster().isPresent(), places);
        output.println("seed " + seed + " draws " + drawn.size() + " faults; to repeat them:");
        output.println("  ./troupe chaos" + options.config().map(config -> " " + config).orElse("") + Stream.concat(
                options.settings().stream().map(setting -> " -s '" + setting + "'"),
                Stream.concat(faults.stream(), drawn.stream().map(FaultSpec::text))
                        .map(fault -> " --fault '" + fault + "'"))
                .collect(Collectors.joining()));
        return drawn;
    }

    private static void write(RunSpec spec, ChaosResult result, Path directory) throws IOException {
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("config.conf"), spec.toHocon());
        Files.writeString(directory.resolve("chaos.json"), ChaosJson.of(spec, result));
        Files.writeString(directory.resolve("chaos.html"), ChaosReport.of(spec, result));
    }
}
