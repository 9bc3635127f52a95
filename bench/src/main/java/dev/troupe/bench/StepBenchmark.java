package dev.troupe.bench;

import dev.troupe.bench.profile.ProfilingEngineProvider;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The tokens per second of a training step, and the parts of its time. Prints the tables of
 * {@code bench/step/README.md}.
 */
@Command(name = "bench/step/run", mixinStandardHelpOptions = true, description = {
        "Measures training steps: tokens per second, the share of matrix products, processor time by thread."})
public final class StepBenchmark implements Callable<Integer> {
    /** The models to measure. */
    enum Models {
        wide(BenchmarkModel.WIDE), narrow(BenchmarkModel.NARROW), both(BenchmarkModel.WIDE,
                BenchmarkModel.NARROW), gpt2(
                        BenchmarkModel.GPT2_124M);

        private final List<BenchmarkModel> models;

        Models(BenchmarkModel... models) {
            this.models = List.of(models);
        }
    }

    /** Steps of the narrow model for each step of the wide one, which takes some fifteen times as long. */
    private static final int NARROW_STEPS_FOR_A_WIDE_ONE = 5;
    private static final Arrangement PROFILED_ALONE = new Arrangement(1, 1, "1f1b");
    private static final Arrangement PROFILED_PAIR = new Arrangement(2, 1, "1f1b");
    private static final Arrangement PROFILED_TOGETHER = new Arrangement(4, 1, "1f1b");

    @Option(names = "--quick", description = "The narrow model only, 1f1b only, once.")
    private boolean quick;

    @Option(names = "--profile", description = {
            "No speeds: the parts of the time of two ranks and of one alone, and the allocations of two."})
    private boolean profileOnly;

    @Option(names = "--model", paramLabel = "NAME", description = {
            "wide, narrow, both, or gpt2, which is for a GPU (default: ${DEFAULT-VALUE})."})
    private Models models = Models.both;

    @Option(names = "--repeats", paramLabel = "N", description = {
            "Rounds through all arrangements, one after another (default: ${DEFAULT-VALUE})."})
    private int repeats = 2;

    @Option(names = "--steps", paramLabel = "N", description = {
            "Steps that count in each run of the wide model; five times as many of the narrow one (default: ${DEFAULT-VALUE})."})
    private int steps = 2;

    @Option(names = "--engine", paramLabel = "KIND", description = {
            "The engine to compute on (default: ${DEFAULT-VALUE})."})
    private String engine = "nd4j";

    @Option(names = "-s", paramLabel = "key=value", description = "As for troupe train. May be repeated.")
    private List<String> settings = List.of();

    private final PrintStream output;

    public StepBenchmark() {
        this(System.out);
    }

    StepBenchmark(PrintStream output) {
        this.output = output;
    }

    /** Measures and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new StepBenchmark()).execute(arguments));
    }

    @Override
    public Integer call() throws InterruptedException, IOException {
        for (BenchmarkModel model : quick ? Models.narrow.models : models.models) {
            int countedSteps = model.equals(BenchmarkModel.NARROW) ? NARROW_STEPS_FOR_A_WIDE_ONE * steps : steps;
            measure(model, quick ? Arrangement.FEW : Arrangement.ALL, quick ? 1 : repeats, countedSteps);
        }
        return 0;
    }

    void measure(BenchmarkModel model, List<Arrangement> arrangements, int rounds, int countedSteps)
            throws InterruptedException, IOException {
        output.printf(Locale.ROOT, "%n### %s%n%n", model);
        if (profileOnly) {
            profile(model, countedSteps);
            output.println(StepReport.heap(run(model, PROFILED_PAIR, countedSteps, engine)));
            return;
        }
        Map<Arrangement, Samples> stepSeconds = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (Arrangement arrangement : arrangements) {
                MeasuredRun run = run(model, arrangement, countedSteps, engine);
                stepSeconds.computeIfAbsent(arrangement, _ -> new Samples()).addAll(run.stepSeconds());
                System.err.printf(Locale.ROOT, "%s, round %d of %d, %s: %.2f s a step%n", model.name(), round + 1,
                        rounds, arrangement, run.totalSeconds() / countedSteps);
            }
        }
        output.println(StepReport.speeds(model, stepSeconds));
        profile(model, countedSteps);
        MeasuredRun together = run(model, PROFILED_TOGETHER, countedSteps, engine);
        output.printf(Locale.ROOT, "Threads, %s:%n%n%s%n%s%n", PROFILED_TOGETHER, StepReport.threads(together),
                StepReport.heap(together));
    }

    /**
     * Reports the time by kernel, of two ranks and of one rank that waits for no other. Each rank has one thread, so the
     * time of a kernel is the time of its thread.
     */
    private void profile(BenchmarkModel model, int countedSteps) throws InterruptedException, IOException {
        System.setProperty(ProfilingEngineProvider.INNER, engine);
        MeasuredRun pair = run(model, PROFILED_PAIR, countedSteps, ProfilingEngineProvider.KIND, "engine.threads=1");
        output.printf(Locale.ROOT, "Kernels, %s:%n%n%s%n", PROFILED_PAIR, StepReport.kernels(pair));
        products(PROFILED_PAIR, pair);
        products(PROFILED_ALONE,
                run(model, PROFILED_ALONE, countedSteps, ProfilingEngineProvider.KIND, "engine.threads=1"));
    }

    private void products(Arrangement arrangement, MeasuredRun run) {
        output.printf(Locale.ROOT, "In the library of matrix products, and outside it, %s:%n%n%s%n", arrangement,
                StepReport.products(run, arrangement.ranks()));
    }

    private MeasuredRun run(BenchmarkModel model, Arrangement arrangement, int countedSteps, String engineKind,
            String... more) throws InterruptedException, IOException {
        List<String> all = new ArrayList<>(settings);
        all.add("engine.kind=" + engineKind);
        all.addAll(List.of(more));
        return MeasuredRun.of(model, arrangement, 1, countedSteps, all);
    }
}
