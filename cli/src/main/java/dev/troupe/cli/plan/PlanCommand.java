package dev.troupe.cli.plan;

import dev.troupe.cli.options.ConfigOptions;
import dev.troupe.cli.report.Terminal;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.RunSpec;
import dev.troupe.look.compare.PlanTrial.Measured;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.planner.MachineFigures;
import dev.troupe.plan.planner.PlanAnswer;
import dev.troupe.plan.planner.PlanRequest;
import dev.troupe.plan.planner.Planner;
import dev.troupe.plan.planner.PricedPlan;
import dev.troupe.plan.planner.ProfiledTimes;
import dev.troupe.plan.planner.StageTimes;
import dev.troupe.plan.prepare.BuiltInCorpus;
import dev.troupe.plan.prepare.EngineChoice;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.plan.profile.Profile;
import dev.troupe.plan.profile.ProfileSetting;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
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

    @Option(names = "--memory", paramLabel = "BYTES", description = {
            "The most memory of a rank for tensors, such as 80GiB; default: the memory in --costs, or no limit."})
    private String memory;

    @Option(names = "--ranks", paramLabel = "N", description = {
            "The most ranks; default: the ranks of CONFIG (pipeline x data x tensor)."})
    private Integer ranks;

    @Option(names = "--nodes", paramLabel = "N", description = {
            "Machines, which have equal shares of the ranks; default: the hosts of CONFIG's cluster, or as node-ranks of --costs gives."})
    private Integer nodes;

    @Option(names = "--tokens-per-step", paramLabel = "N", description = {
            "Tokens of a step over all ranks; default: the tokens of CONFIG."})
    private Long tokens;

    @Option(names = "--costs", paramLabel = "FILE", description = {
            "Assumed figures of the machines: device-flops, node-ranks, memory, and latency and bandwidth inside and between; docs/plan.md. Default with engine.kind = emulated: its device-flops, and links that take no time."})
    private Path costs;

    @Option(names = "--profile", paramLabel = "FILE", description = {
            "Measured times of the layers, by ./troupe profile with the same CONFIG; then steps have intervals, and --costs is for links and memory alone."})
    private Path profile;

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
        RunSpec spec = options.read();
        int most = ranks == null ? spec.parallel().worldSize() : ranks;
        if (most < 1 || most > MOST_RANKS) {
            throw new UsageException("--ranks must be 1 to " + MOST_RANKS + ", but found " + most);
        }
        Optional<Profile> measured = Optional.ofNullable(profile).map(Profile::read);
        MachineFigures figures = withLinks(spec, measured, figures(spec, most, measured.isPresent()));
        long budget = budget(figures);
        try (OpenedRun opened = open(spec, measured)) {
            measured.ifPresent(of -> of.requireFor(settingOf(opened), profile));
            PlanRequest request = new PlanRequest(most, budget, batchSize(spec, opened), asynchronous, top);
            OpenedRun asked = opened.with(opened.spec().with(Map.of("training.global-batch-size",
                    request.batchSize())));
            StageTimes times = measured.<StageTimes>map(ProfiledTimes::new)
                    .orElseGet(() -> StageTimes.ofOperations(figures.deviceFlops()));
            Planner planner = new Planner(asked, request, figures, times);
            PlanAnswer answer = planner.run();
            if (format == Format.table) {
                output.print(PlanTable.of(request, answer, Terminal.ofOutput()));
            }
            int exitCode = trial.run(planner, request, answer, format == Format.json, output);
            if (out != null && exitCode == ExitCode.DONE) {
                write(spec, answer.best().getFirst());
            }
            output.flush();
            return exitCode;
        }
    }

    private MachineFigures figures(RunSpec spec, int most, boolean isMeasured) {
        MachineFigures figures;
        if (costs != null) {
            figures = MachineFigures.read(costs);
        } else if (spec.engine().kind().equals("emulated") && spec.engine().emulated().deviceFlops() > 0) {
            figures = MachineFigures.withFreeLinks(spec.engine().emulated().deviceFlops(), most);
        } else if (isMeasured) {
            figures = MachineFigures.withFreeLinks(1, most); // the times of layers are measured
        } else {
            throw new UsageException(
                    "plan needs the costs of the model's layers: name a profile of ./troupe profile with"
                            + " --profile, or assumed figures with --costs, or set engine.kind = emulated and"
                            + " engine.emulated.device-flops");
        }
        OptionalLong machines = nodes != null
                ? OptionalLong.of(nodes)
                : spec.cluster().map(cluster -> OptionalLong.of(ClusterWays.machines(cluster).size()))
                        .orElseGet(OptionalLong::empty);
        if (machines.isEmpty()) {
            return figures;
        }
        if (machines.getAsLong() < 1 || machines.getAsLong() > most) {
            throw new UsageException("--nodes must be 1 to the " + most + " ranks, but found " + machines.getAsLong());
        }
        return figures.withNodeRanks(Math.ceilDiv(most, Math.toIntExact(machines.getAsLong())));
    }

    /** Measured links count unless others are assumed: --costs has them, or --nodes other machines. */
    private MachineFigures withLinks(RunSpec spec, Optional<Profile> measured, MachineFigures figures) {
        if (costs != null || nodes != null || measured.isEmpty() || measured.get().links().isEmpty()
                || spec.cluster().isEmpty()) {
            return figures;
        }
        return figures.withMeasured(ClusterWays.of(measured.get(), spec.cluster().get(), profile));
    }

    private long budget(MachineFigures figures) {
        if (memory == null) {
            return figures.memoryBytes().orElse(Long.MAX_VALUE);
        }
        return MachineFigures.bytes("--memory", memory);
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

    /** Writes the configuration of the best plan, with the nodes of CONFIG if it has any: ranks are placed by rule. */
    private void write(RunSpec spec, PricedPlan best) {
        RunSpec run = spec.cluster().isEmpty() ? best.spec() : best.spec().with(spec.nodesWithoutRanks());
        MeasureOptions.write("--out", out, run.toHocon());
        if (format == Format.table) {
            output.println("Written to " + out + ": ./troupe " + (run.cluster().isEmpty() ? "train " : "launch ") + out
                    + " runs it.");
        }
    }
}
