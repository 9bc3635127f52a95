package dev.troupe.bench;

import dev.troupe.bench.kernels.KernelWork;
import java.util.Locale;

/** The table of kernels, as its README shows it. Thread rule: one thread. */
final class KernelReport {
    private static final double NANOS_PER_MICRO = 1e3;

    private final double operationsPerNano;
    private final double narrowBytesPerNano;
    private final double wideBytesPerNano;
    private final MarkdownTable table;
    private String family = "";

    /**
     * Creates an empty table.
     *
     * @param operationsPerNano the limit of kernels that are products, in GFLOP/s
     * @param narrowBytesPerNano the limit of kernels that move little memory, in GB/s
     * @param wideBytesPerNano the limit of kernels that move much
     */
    KernelReport(String engine, String naive, double operationsPerNano, double narrowBytesPerNano,
            double wideBytesPerNano) {
        this.operationsPerNano = operationsPerNano;
        this.narrowBytesPerNano = narrowBytesPerNano;
        this.wideBytesPerNano = wideBytesPerNano;
        this.table = new MarkdownTable("kernel", "sizes", "`" + engine + "`, us", "`" + naive + "`, us",
                "times as fast",
                "rate", "of the limit");
    }

    /** Adds the times of a call of a kernel on both engines. */
    void row(KernelWork work, double nanos, double naiveNanos) {
        if (!work.family().equals(family)) {
            family = work.family();
            table.row("**" + family + "**", "", "", "", "", "", "");
        }
        boolean product = work.operations() > 0;
        double rate = (product ? work.operations() : work.bytes()) / nanos;
        table.row("`" + work.method() + "`", work.sizes(), format("%,.1f", nanos / NANOS_PER_MICRO),
                format("%,.0f", naiveNanos / NANOS_PER_MICRO), format("%,.1f", naiveNanos / nanos),
                format(product ? "%.0f GFLOP/s" : "%.1f GB/s", rate),
                format("%.0f %%", 100 * rate / limit(work)));
    }

    /** Returns the limit of products, or of the copy that moves about as much memory. */
    private double limit(KernelWork work) {
        if (work.operations() > 0) {
            return operationsPerNano;
        }
        return work.bytes() < KernelWork.WIDE_BYTES ? narrowBytesPerNano : wideBytesPerNano;
    }

    @Override
    public String toString() {
        return format("Limits of one core in this run: a product of 2048 x 2048 matrices %.0f GFLOP/s,"
                + " copies of 2 and 8 MiB %.1f and %.1f GB/s, read and written.%n%n%s", operationsPerNano,
                narrowBytesPerNano, wideBytesPerNano, table);
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
