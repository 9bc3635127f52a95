package dev.troupe.bench;

import dev.troupe.bench.kernels.KernelWork;
import dev.troupe.bench.kernels.Workbench;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The time of each kernel, compared with the naive kernel and with the limit of the machine. Prints the table of {@code
 * bench/kernels/README.md}.
 */
@Command(name = "bench/kernels/run", mixinStandardHelpOptions = true, description = {
        "Measures every kernel of an engine with JMH, against the engine reference and against the limits of one core."})
public final class KernelBenchmark implements Callable<Integer> {
    private static final String NAIVE = "reference";
    /** The measuring time of a fast engine, long enough for the compiler. */
    private static final Effort THOROUGH = new Effort(4, 5, 400);
    /** The measuring time of a naive engine: a product takes seconds, and its time need not be exact. */
    private static final Effort BRIEF = new Effort(1, 2, 100);

    /** The iterations of the warm-up, the measured iterations, and the least length of each. */
    private record Effort(int warmups, int iterations, long iterationMillis) {
    }

    @Option(names = "--engine", paramLabel = "KIND", description = "The engine to measure (default: ${DEFAULT-VALUE}).")
    private String engine = "cpu";

    @Option(names = "--only", paramLabel = "WORD", description = {
            "Only the kernels with this in their name, such as NormKernels or adamW. May be repeated."})
    private List<String> only = List.of("");

    /** Measures and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new KernelBenchmark()).execute(arguments));
    }

    @Override
    public Integer call() throws RunnerException, IOException {
        List<KernelWork> chosen = KernelWork.all().stream()
                .filter(work -> only.stream().anyMatch(work.benchmark()::contains)).toList();
        KernelReport report = new KernelReport(engine, NAIVE, KernelWork.PRODUCT_OPERATIONS / limitNanos("product"),
                KernelWork.NARROW_BYTES / limitNanos("copyNarrow"), KernelWork.WIDE_BYTES / limitNanos("copyWide"));
        for (KernelWork work : chosen) {
            report.row(work, nanos(work.benchmark(), engine, THOROUGH), nanos(work.benchmark(), NAIVE, BRIEF));
        }
        System.out.print(report);
        return 0;
    }

    private double limitNanos(String method) throws RunnerException, IOException {
        return nanos(KernelWork.limit(method), engine, THOROUGH);
    }

    /** Returns the median time of a call, in a JVM of its own. */
    private double nanos(String benchmark, String kind, Effort effort) throws RunnerException, IOException {
        Path log = Files.createTempFile("troupe-bench", ".jmh");
        try {
            TimeValue time = TimeValue.milliseconds(effort.iterationMillis);
            RunResult result = new Runner(new OptionsBuilder().include(Workbench.class.getName() + ".call")
                    .param("kernel", benchmark).param("engineKind", kind).forks(1).warmupIterations(effort.warmups)
                    .warmupTime(time)
                    .measurementIterations(effort.iterations).measurementTime(time).shouldFailOnError(true)
                    .output(log.toString()).build()).runSingle();
            double median = result.getPrimaryResult().getStatistics().getPercentile(50);
            System.err.printf(Locale.ROOT, "%s on %s: %,.1f us%n", benchmark, kind, median / 1e3);
            return median;
        } finally {
            Files.delete(log);
        }
    }
}
