package dev.troupe.cli.plan;

import dev.troupe.cli.options.ConfigOptions;
import dev.troupe.cli.options.OutputFile;
import dev.troupe.cli.report.Columns;
import dev.troupe.cli.report.Terminal;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.RunSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.planner.MachineFigures;
import dev.troupe.plan.planner.PlanRequest;
import dev.troupe.plan.planner.Planner;
import dev.troupe.plan.planner.ProfiledTimes;
import dev.troupe.plan.planner.StageTimes;
import dev.troupe.plan.planner.machine.MeasuredFigures;
import dev.troupe.plan.planner.machine.MeasuredPlacement;
import dev.troupe.plan.planner.machine.MeasuredPlacement.Placed;
import dev.troupe.plan.prepare.BuiltInCorpus;
import dev.troupe.plan.prepare.EngineChoice;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.plan.profile.Profile;
import dev.troupe.plan.profile.ProfileSetting;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe plan}: the search for the layout with the shortest predicted step. */
@Command(name = "plan", mixinStandardHelpOptions = true, description = {
        "Searches for the plans of a model with the shortest predicted step on given machines under a memory budget. Each is lowered, certified, sized and simulated; nothing is started."})
public final class PlanCommand implements Callable<Integer> {
    enum Format {
        table, json
    }

    /** The most ranks that a configuration may have. */
    private static final int MOST_RANKS = 65_536;

    @Mixin
    private ConfigOptions options;

    @Option(names = "--ranks", paramLabel = "N", description = {
            "The most ranks; default: the ranks of CONFIG (pipeline x data x tensor)."})
    private Integer ranks;

    @Option(names = "--tokens-per-step", paramLabel = "N", description = {
            "Tokens of a step over all ranks; default: the tokens of CONFIG."})
    private Long tokens;

    @Mixin
    private MachineOptions machines;

    @Mixin
    private PlacementOptions placement;

    @Mixin
    private RowOptions rows;

    @Option(names = "--figures", paramLabel = "FILE", description = {
            "With --profile: where to write the figures of machines that follow from it, which --costs reads; default: nowhere."})
    private Path figuresFile;

    @Option(names = "--asynchronous", description = {
            "Also considers schedules with overlapping steps, which train on older weights."})
    private boolean asynchronous;

    @Option(names = "--top", paramLabel = "N", defaultValue = "5", description = "Plans to rank; default: 5.")
    private int top;

    @Option(names = "--out", paramLabel = "FILE", description = {
            "Where to write the configuration of the best plan, which ./troupe train runs; default: nowhere."})
    private Path out;

    @Option(names = "--format", defaultValue = "table", description = "${COMPLETION-CANDIDATES}; default: table.")
    private Format format;

    @Mixin
    private MeasureOptions trial;

    private final PrintStream output = System.out;

    @Override
    public Integer call() {
        if (top < 1) {
            throw new UsageException("--top must be 1 or more, but found " + top);
        }
        if (out != null && Files.isDirectory(out)) {
            throw new UsageException("--out must be a file, but " + out + " is a directory");
        }
        trial.require(top, asynchronous);
        rows.require(out);
        RunSpec spec = options.read();
        int most = ranks == null ? spec.parallel().worldSize() : ranks;
        if (most < 1 || most > MOST_RANKS) {
            throw new UsageException("--ranks must be 1 to " + MOST_RANKS + ", but found " + most);
        }
        Unplanned.refuse(spec);
        List<Profile> measured = machines.profiles();
        if (figuresFile != null && (measured.isEmpty() || Files.isDirectory(figuresFile))) {
            throw new UsageException("--figures is a file of what --profile has measured, but " + (measured.isEmpty()
                    ? "there is no --profile"
                    : figuresFile + " is a directory"));
        }
        MachineFigures figures = machines.figures(spec, most, measured);
        long budget = machines.budget(figures);
        try (OpenedRun opened = open(spec, measured.stream().findFirst())) {
            for (int node = 0; node < measured.size(); node++) {
                ProfileSetting here = settingOf(opened);
                measured.get(node).requireFor(node == 0 ? here : here.on(measured.get(node).setting()),
                        machines.file(node));
            }
            PlanRequest request = new PlanRequest(most, budget, batchSize(spec, opened), asynchronous, top);
            OpenedRun asked = opened.with(opened.spec().with(Map.of("training.global-batch-size",
                    request.batchSize())));
            StageTimes times = measured.stream().min(Comparator.comparingDouble(MeasuredFigures::seconds))
                    .<StageTimes>map(ProfiledTimes::new)
                    .orElseGet(() -> StageTimes.ofOperations(figures.deviceFlops()));
            List<String> names = machines.names(spec, Math.max(Math.ceilDiv(most, figures.nodeRanks()),
                    Math.max(figures.speeds().size(), figures.measured().size())));
            MeasuredPlacement search = new MeasuredPlacement(
                    ordered -> new Planner(asked, request, ordered, times), figures, names.size());
            Placed placed = rows.improve(placement.place(search, spec, names), out);
            if (format == Format.table) {
                output.print(PlanTable.of(request, placed.answer(), Terminal.ofOutput()));
                placement.text(search, placed, names).forEach(line -> output.println(
                        Columns.wrapped(line, Terminal.ofOutput().lineColumns(), "")));
            }
            int exitCode = trial.run(placed.planner(), request, placed.answer(), format == Format.json, output);
            if (exitCode == ExitCode.DONE) {
                write(spec, placed, MeasuredFigures.of(opened.model(), measured, figures));
            }
            output.flush();
            return exitCode;
        }
    }

    private int batchSize(RunSpec spec, OpenedRun opened) {
        if (tokens == null) {
            return spec.training().globalBatchSize();
        }
        int length = opened.whole().start().sequenceLength();
        if (tokens < length || tokens % length != 0 || tokens / length > Integer.MAX_VALUE) {
            throw new UsageException("--tokens-per-step must be a multiple of the " + length
                    + " tokens of a sequence, but found " + tokens);
        }
        return Math.toIntExact(tokens / length); // exact
    }

    private static ProfileSetting settingOf(OpenedRun opened) {
        EngineChoice engine = opened.whole().choice();
        return ProfileSetting.of(opened.spec(), opened.model(), opened.whole().start().sequenceLength(),
                engine.provider().kind(), engine.settings());
    }

    /**
     * Opens the run on one rank: what the planner chooses is left to it. A rank has the threads of the profile.
     */
    private static OpenedRun open(RunSpec spec, Optional<Profile> measured) {
        Map<String, Object> others = new HashMap<>(Map.of("training.zero", 0, "training.recompute", "none"));
        measured.map(Profile::setting).ifPresent(setting -> {
            others.put("parallel.tensor", setting.tensor());
            others.put("training.microbatch-size", setting.microbatchSize());
            others.put("engine.threads", setting.threads());
        });
        return OpenedRun
                .of(new RunRequest(spec.ofOneRank("1f1b", others), BuiltInCorpus.utf8(), Path.of("runs", spec.name()),
                        Optional.empty(), OptionalLong.empty()));
    }

    /**
     * Writes the figures, and the configuration of the best plan with the nodes of CONFIG that hold its ranks: ranks are
     * placed on them by rule.
     */
    private void write(RunSpec spec, Placed placed, Optional<MachineFigures> figures) {
        if (figuresFile != null) {
            OutputFile.write("--figures", figuresFile, figures.orElseThrow().toHocon());
        }
        if (out == null) {
            return;
        }
        RunSpec best = placed.answer().best().getFirst().spec();
        RunSpec run = spec.cluster().map(cluster -> best.with(spec.nodesWithoutRanks(PlacementOptions.nodes(cluster,
                placed)))).orElse(best);
        OutputFile.write("--out", out, run.toHocon());
        if (format == Format.table) {
            output.println("Written to " + out + ": ./troupe " + (run.cluster().isEmpty() ? "train " : "launch ") + out
                    + " runs it.");
        }
    }
}
