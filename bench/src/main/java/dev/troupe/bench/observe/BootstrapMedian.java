package dev.troupe.bench.observe;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The median of samples, with an interval that has the true one in it with 95 %: the middle of the medians of samples that
 * are drawn from these with replacement (Efron 1979, percentiles).
 *
 * @param median the mean of the two in the middle
 */
record BootstrapMedian(double median, double low, double high) {
    private static final int DRAWS = 10_000;
    private static final long SEED = 1;

    /** Of at least one sample. */
    static BootstrapMedian of(List<Double> samples) {
        SplittableRandom random = new SplittableRandom(SEED);
        double[] medians = new double[DRAWS];
        double[] drawn = new double[samples.size()];
        for (int draw = 0; draw < DRAWS; draw++) {
            for (int i = 0; i < drawn.length; i++) {
                drawn[i] = samples.get(random.nextInt(drawn.length));
            }
            medians[draw] = median(drawn);
        }
        Arrays.sort(medians);
        return new BootstrapMedian(median(samples.stream().mapToDouble(Double::doubleValue).toArray()),
                medians[DRAWS / 40], medians[DRAWS - 1 - DRAWS / 40]);
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return (values[(values.length - 1) / 2] + values[values.length / 2]) / 2;
    }
}
