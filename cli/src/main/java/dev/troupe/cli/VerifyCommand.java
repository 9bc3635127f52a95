package dev.troupe.cli;

import dev.troupe.cli.options.ConfigOptions;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.config.spec.update.ReplicasSpec;
import dev.troupe.look.chaos.RunRecord;
import dev.troupe.look.chaos.WeightComparison;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.schedule.family.PipeDream2Bw;
import dev.troupe.schedule.family.Schedules;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe verify}: the comparison of a run with the same model and data on one rank. */
@Command(name = "verify", mixinStandardHelpOptions = true, description = {
        "Trains a configuration and the same model on the same data on one rank, and compares every loss and the weights at the end: to the bit if docs/determinism.md promises equal bits, else within a tolerance."})
final class VerifyCommand implements Callable<Integer> {
    private static final String STOPPED = "Stopped: nothing is compared.";
    /** A schedule with backwards, and so sums, in descending order. */
    private static final String DESCENDING = "looped-bfs";
    /** The tolerance for activations, or gradients between ranks, of 8 bits. */
    private static final double OF_BFLOAT16 = 2e-2;

    @Mixin
    private ConfigOptions options;

    @Option(names = "--tolerance", paramLabel = "X", description = {
            "The most relative difference of a loss, and of all weights by norm, if bits may differ; default: 1e-9 in float64, 1e-4 in float32, 2e-2 in bfloat16 and with training.gradient-exchange = bfloat16."})
    private Double tolerance;

    @Option(names = "--out", paramLabel = "DIR", description = {
            "Where to write: an empty directory, or one that does not exist yet. Default: runs/verify-NAME, or -2 and so on."})
    private Path out;

    private final PrintStream output = System.out;

    @Override
    public Integer call() throws InterruptedException {
        return StopRequests.duringRuns(output, STOPPED, this::run);
    }

    private int run() {
        if (tolerance != null && !(tolerance >= 0)) {
            throw new UsageException("--tolerance must be at least 0, but found " + tolerance);
        }
        RunSpec spec = options.read().with(List.of());
        requireOneModel(spec);
        RunSpec one = spec.onOneRank(Runtime.getRuntime().availableProcessors(), scheduleOnOneRank(spec.parallel()));
        Path directory = out == null ? RunDirectory.firstFree(Path.of("runs", "verify-" + spec.name())) : out;
        RunDirectory.requireFree(directory);
        ChaosRun verified = new ChaosRun(spec, directory);
        ChaosRun alone = new ChaosRun(one, directory);
        verified.prepare(List.of()).close();
        alone.prepare(List.of()).close(); // what is refused there costs no training
        say("The run of the configuration:");
        ChaosRun.Ended asked = verified.train("run", List.of());
        if (asked.failure().isPresent()) {
            return asked.exitCode();
        }
        say("The same on one rank:");
        ChaosRun.Ended reference = alone.train("one-rank", List.of());
        if (reference.failure().isPresent()) {
            return reference.exitCode();
        }
        return compare(spec, asked.record(), reference.record());
    }

    /** Refuses replicas: no run on one rank has their losses. */
    private static void requireOneModel(RunSpec spec) {
        ReplicasSpec replicas = spec.training().update().replicas();
        if (replicas.mode() != ReplicasSpec.Mode.NONE && spec.parallel().data() > 1) {
            throw new UsageException("training.replicas.mode is " + replicas.mode().word() + ": its "
                    + spec.parallel().data() + " replicas train models of their own, so that no run on one rank has its"
                    + " losses (docs/replicas.md): set parallel.data to 1, or the mode to none");
        }
    }

    /**
     * Returns pipedream-2bw for itself, since its gradients are one update old on one rank too; other schedules use the
     * newest weights.
     */
    private static String scheduleOnOneRank(ParallelSpec parallel) {
        if (parallel.schedule().equals(PipeDream2Bw.NAME)) {
            return PipeDream2Bw.NAME;
        }
        if (Schedules.overlapsSteps(parallel.schedule()) && parallel.worldSize() > 1) {
            throw new UsageException("parallel.schedule is " + parallel.schedule() + ", whose gradients on "
                    + parallel.worldSize() + " ranks are older than on one, so that no run on one rank has its losses"
                    + " (docs/asynchronous.md): take one rank, or " + PipeDream2Bw.NAME
                    + ", whose gradients are one step old on any number of ranks");
        }
        return "1f1b";
    }

    private int compare(RunSpec spec, RunRecord asked, RunRecord reference) {
        Path weights = ChaosRun.weights(spec);
        Path found = asked.directory().resolve(weights);
        Path expected = reference.directory().resolve(weights);
        double ofLosses = lossDifference(reference.losses(), asked.losses());
        double ofWeights = WeightComparison.relativeDistance(expected, found);
        boolean isSame = ofLosses == 0 && WeightComparison.firstDifference(expected, found).isEmpty();
        double allowed = mustBeSame(spec) ? 0 : tolerance == null ? usual(spec) : tolerance;
        boolean holds = isSame || allowed > 0 && ofLosses <= allowed && ofWeights <= allowed;
        output.println();
        output.printf(Locale.ROOT,
                "%d losses differ by at most %.3g of the loss, the weights at the end by %.3g of their norm%n",
                reference.losses().size(), ofLosses, ofWeights);
        output.println((holds ? "Verified: " : "NOT verified: ") + (isSame
                ? "every loss and every weight is the same to the bit."
                : allowed == 0
                        ? "this layout must have the bits of one rank (docs/determinism.md)."
                        : String.format(Locale.ROOT,
                                "%s %.3g; the bits of this layout are its own (docs/determinism.md).",
                                holds ? "within" : "not within", allowed)));
        return holds ? ExitCode.DONE : ExitCode.RUN_FAILED;
    }

    /** Returns whether every sum has the same parts and the same engine as on one rank. */
    private static boolean mustBeSame(RunSpec spec) {
        ParallelSpec parallel = spec.parallel();
        boolean isOfOneEngine = spec.cluster().stream().flatMap(cluster -> cluster.nodes().stream())
                .allMatch(node -> node.engine().equals(spec.engine()));
        return isOfOneEngine && parallel.tensor() == 1 && parallel.data() == 1
                && !parallel.schedule().equals(DESCENDING)
                && parallel.schedule().indexOf('/') < 0;
    }

    private static double usual(RunSpec spec) {
        if (spec.training().update().roundsGradients()) {
            return OF_BFLOAT16;
        }
        return switch (spec.training().precision()) {
            case FLOAT64 -> 1e-9;
            case FLOAT32 -> 1e-4;
            case BFLOAT16 -> OF_BFLOAT16;
        };
    }

    private static double lossDifference(Map<Long, Double> expected, Map<Long, Double> found) {
        if (!expected.keySet().equals(found.keySet())) {
            return Double.POSITIVE_INFINITY;
        }
        return expected.entrySet().stream()
                .mapToDouble(step -> Math.abs(found.get(step.getKey()) - step.getValue()) / Math.abs(step.getValue()))
                .max().orElse(0);
    }

    private void say(String what) {
        output.println();
        output.println(what);
        output.flush();
    }
}
