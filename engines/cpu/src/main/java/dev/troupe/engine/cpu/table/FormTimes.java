package dev.troupe.engine.cpu.table;

import dev.troupe.engine.Engine;
import dev.troupe.engine.cpu.library.Sgemm;
import dev.troupe.engine.cpu.product.ProductForm;
import java.util.Arrays;

/**
 * The speeds of two libraries for one form of product.
 *
 * @param first operations per nanosecond of the first, the median of all rounds
 * @param second likewise of the second
 * @param ratio the median over rounds of the second's speed divided by the first's
 */
public record FormTimes(ProductForm form, double first, double second, double ratio) {
    private static final int WARM_UPS = 3;

    /**
     * A library.
     *
     * @param engine an engine of one thread with all products by the library
     * @param tiles the library's product
     */
    public record Contestant(Engine engine, Sgemm tiles) {
        private FormTrial trial(ProductForm form) {
            return new FormTrial(engine, tiles, form);
        }
    }

    /** Measures two libraries alternately, each first in every other round, so that other load affects both. */
    public static FormTimes measure(ProductForm form, Contestant first, Contestant second, int rounds) {
        double[] firstNanos = new double[rounds];
        double[] secondNanos = new double[rounds];
        double[] ratios = new double[rounds];
        try (FormTrial one = first.trial(form); FormTrial other = second.trial(form)) {
            for (int round = -Math.min(WARM_UPS, rounds - 1); round < rounds; round++) {
                boolean isSwapped = round % 2 != 0;
                long early = (isSwapped ? other : one).nanos();
                long late = (isSwapped ? one : other).nanos();
                if (round >= 0) {
                    firstNanos[round] = isSwapped ? late : early;
                    secondNanos[round] = isSwapped ? early : late;
                    ratios[round] = firstNanos[round] / secondNanos[round];
                }
            }
            return new FormTimes(form, one.operations() / median(firstNanos), other.operations() / median(secondNanos),
                    median(ratios));
        }
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
