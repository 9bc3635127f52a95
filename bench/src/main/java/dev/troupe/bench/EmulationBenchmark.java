package dev.troupe.bench;

import dev.troupe.engine.DataType;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Work;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.plan.prepare.EngineChoice;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The check that an emulated action takes its configured time, with any number of ranks in the JVM. Each rank has its own
 * engine and thread, as in a run. Prints a table of {@code bench/schedules/README.md}.
 */
@Command(name = "bench/schedules/accuracy", mixinStandardHelpOptions = true, description = {
        "Measures the deviation of an emulated action from its time, by number of ranks."})
public final class EmulationBenchmark implements Callable<Integer> {
    private static final List<Integer> RANKS = List.of(1, 8, 64);
    /** Actions before the measurement, in which sleeps are calibrated and the code is compiled. */
    private static final int WARM_UP_ACTIONS = 500;

    @Option(names = "--micros", paramLabel = "N", description = "The time of an action (default: ${DEFAULT-VALUE}).")
    private int micros = 2000;

    @Option(names = "--actions", paramLabel = "N", description = {
            "Measured actions of each rank (default: ${DEFAULT-VALUE})."})
    private int actions = 1000;

    private final PrintStream output = System.out;

    /** Measures and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new EmulationBenchmark()).execute(arguments));
    }

    @Override
    public Integer call() throws InterruptedException, ExecutionException {
        long configuredNanos = TimeUnit.MICROSECONDS.toNanos(micros);
        MarkdownTable table = new MarkdownTable("ranks", "error p50", "p90", "p99", "mean time of an action");
        for (int ranks : RANKS) {
            Samples errors = new Samples();
            Samples times = new Samples();
            for (long nanos : measure(ranks, configuredNanos)) {
                errors.add(100.0 * Math.abs(nanos - configuredNanos) / configuredNanos);
                times.add(nanos / 1e3);
            }
            table.row(Integer.toString(ranks), percent(errors.median()), percent(errors.quantile(0.9)),
                    percent(errors.quantile(0.99)), String.format(Locale.ROOT, "%.0f us", times.mean()));
        }
        output.printf(Locale.ROOT, "Emulated actions of %d us, %d on each rank:%n%n%s", micros, actions, table);
        return 0;
    }

    private List<Long> measure(int ranks, long configuredNanos) throws InterruptedException, ExecutionException {
        CyclicBarrier begin = new CyclicBarrier(ranks);
        List<Long> nanos = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(ranks)) {
            List<Callable<List<Long>>> all = IntStream.range(0, ranks)
                    .<Callable<List<Long>>>mapToObj(_ -> () -> rank(begin, configuredNanos)).toList();
            for (Future<List<Long>> rank : threads.invokeAll(all)) {
                nanos.addAll(rank.get());
            }
        }
        return nanos;
    }

    private List<Long> rank(CyclicBarrier begin, long configuredNanos) throws Exception {
        EngineSettings settings = new EngineSettings(DataType.FLOAT32, DataType.FLOAT32, 1, (_, _) -> configuredNanos);
        List<Long> nanos = new ArrayList<>(actions);
        WorkClock clock = emulated().clock(settings);
        begin.await();
        for (int action = -WARM_UP_ACTIONS; action < actions; action++) {
            long start = System.nanoTime();
            clock.begins(0, Work.FORWARD);
            clock.ends();
            long taken = System.nanoTime() - start;
            if (action >= 0) {
                nanos.add(taken);
            }
        }
        return nanos;
    }

    private static EngineProvider emulated() {
        return EngineChoice.installed().stream().filter(provider -> provider.kind().equals("emulated")).findFirst()
                .orElseThrow();
    }

    private static String percent(double value) {
        return String.format(Locale.ROOT, "%.1f %%", value);
    }
}
