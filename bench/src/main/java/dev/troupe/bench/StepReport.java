package dev.troupe.bench;

import dev.troupe.bench.profile.KernelTimes;
import dev.troupe.bench.profile.ThreadTimes;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/** The tables of {@code bench/step/README.md}, from the measurements of a run. */
final class StepReport {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    /** The share of a step below which a kernel has no row of its own. */
    private static final double LEAST_SHARE = 0.005;

    private StepReport() {
    }

    /** Returns the tokens per second of each arrangement, from the times of its steps. */
    static String speeds(BenchmarkModel model, Map<Arrangement, Samples> stepSeconds) {
        MarkdownTable table = new MarkdownTable("arrangement", "tokens/s, median", "slowest to fastest", "steps",
                "PyTorch elsewhere, tokens/s");
        stepSeconds.forEach((arrangement, seconds) -> {
            OptionalDouble other = PublishedFigures.pyTorchTokensPerSecond(model, arrangement.ranks());
            table.row(arrangement.toString(), whole(model.tokensPerStep() / seconds.median()),
                    whole(model.tokensPerStep() / seconds.greatest()) + " to "
                            + whole(model.tokensPerStep() / seconds.least()),
                    Integer.toString(seconds.count()), other.isPresent() ? whole(other.getAsDouble()) : "");
        });
        return table.toString();
    }

    /** Returns the time of each kernel, as shares of the kernel time of all ranks. */
    static String kernels(MeasuredRun run) {
        int steps = run.stepSeconds().size();
        double allNanos = run.kernels().stream().mapToLong(KernelTimes.Total::wallNanos).sum();
        MarkdownTable table = new MarkdownTable("kernel", "calls a step", "ms a step", "share", "GFLOP/s");
        List<KernelTimes.Total> products = run.kernels().stream().filter(kernel -> kernel.operations() > 0).toList();
        table.row("**matrix products**", whole(calls(products) / (double) steps), millis(nanos(products) / steps),
                percent(nanos(products) / allNanos), rate(products));
        products.forEach(kernel -> kernelRow(table, kernel, steps, allNanos));
        List<KernelTimes.Total> others = run.kernels().stream().filter(kernel -> kernel.operations() == 0).toList();
        List<KernelTimes.Total> small = others.stream().filter(kernel -> kernel.wallNanos() < LEAST_SHARE * allNanos)
                .toList();
        others.stream().filter(kernel -> !small.contains(kernel))
                .forEach(kernel -> kernelRow(table, kernel, steps, allNanos));
        table.row("others", whole(calls(small) / (double) steps), millis(nanos(small) / steps),
                percent(nanos(small) / allNanos), "");
        return table.toString();
    }

    /**
     * Returns the share of the ranks' time inside the library of matrix products, and the kernels that take the rest. A
     * rank that waits is in no kernel.
     */
    static String products(MeasuredRun run, int ranks) {
        int steps = run.stepSeconds().size();
        double rankNanos = NANOS_PER_SECOND * run.totalSeconds() * ranks;
        double inKernels = nanos(run.kernels());
        double inLibrary = run.productNanos().values().stream().mapToLong(Long::longValue).sum();
        MarkdownTable table = new MarkdownTable("part", "ms a step", "share of the ranks' time", "share of kernels");
        table.row("**in the library**", millis(inLibrary / steps), percent(inLibrary / rankNanos),
                percent(inLibrary / inKernels));
        run.kernels().stream().filter(kernel -> kernel.wallNanos() >= LEAST_SHARE * inKernels).forEach(kernel -> {
            double outside = kernel.wallNanos() - (double) run.productNanos().getOrDefault(kernel.name(), 0L);
            table.row("`" + kernel.name() + "`, the rest of it", millis(outside / steps),
                    percent(outside / rankNanos), percent(outside / inKernels));
        });
        table.row("in no kernel", millis((rankNanos - inKernels) / steps), percent(1 - inKernels / rankNanos), "");
        return table.toString();
    }

    /** Returns the bytes that a step leaves to the garbage collector. */
    static String heap(MeasuredRun run) {
        int steps = run.stepSeconds().size();
        return String.format(Locale.ROOT, "Heap: %s bytes allocated a step, %d collections in %d steps.",
                whole(run.heap().allocatedBytes() / (double) steps), run.heap().collections(), steps);
    }

    private static void kernelRow(MarkdownTable table, KernelTimes.Total kernel, int steps, double allNanos) {
        table.row("`" + kernel.name() + "`", whole(kernel.calls() / (double) steps),
                millis(kernel.wallNanos() / (double) steps), percent(kernel.wallNanos() / allNanos),
                kernel.operations() > 0 ? rate(List.of(kernel)) : "");
    }

    private static double nanos(List<KernelTimes.Total> kernels) {
        return kernels.stream().mapToLong(KernelTimes.Total::wallNanos).sum();
    }

    private static long calls(List<KernelTimes.Total> kernels) {
        return kernels.stream().mapToLong(KernelTimes.Total::calls).sum();
    }

    private static String rate(List<KernelTimes.Total> kernels) {
        return whole(kernels.stream().mapToLong(KernelTimes.Total::operations).sum() / nanos(kernels));
    }

    /** Returns the share of a core that each kind of thread used while the steps ran. */
    static String threads(MeasuredRun run) {
        double seconds = run.totalSeconds();
        MarkdownTable table = new MarkdownTable("threads", "processor time, ms a step", "share of one core");
        run.threads().cpuNanos().entrySet().stream().sorted(Map.Entry.comparingByKey(StepReport::ranksFirst))
                .forEach(kind -> table.row(kind.getKey(), millis(kind.getValue() / (double) run.stepSeconds().size()),
                        percent(kind.getValue() / NANOS_PER_SECOND / seconds)));
        double total = run.threads().cpuNanos().values().stream().mapToLong(Long::longValue).sum();
        table.row("**together**", millis(total / run.stepSeconds().size()),
                percent(total / NANOS_PER_SECOND / seconds));
        return table.toString();
    }

    private static int ranksFirst(String left, String right) {
        boolean leftIsRank = left.startsWith("rank ");
        if (leftIsRank != right.startsWith("rank ")) {
            return leftIsRank ? -1 : 1;
        }
        if (left.equals(ThreadTimes.REST) != right.equals(ThreadTimes.REST)) {
            return left.equals(ThreadTimes.REST) ? 1 : -1;
        }
        return left.compareTo(right);
    }

    private static String whole(double value) {
        return String.format(Locale.ROOT, "%,.0f", value);
    }

    private static String millis(double nanos) {
        return String.format(Locale.ROOT, "%,.1f", nanos / NANOS_PER_MILLI);
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }
}
