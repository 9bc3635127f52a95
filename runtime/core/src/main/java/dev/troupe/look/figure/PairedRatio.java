package dev.troupe.look.figure;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The ratio of two times that were measured in pairs, one after the other, so that disturbances of both cancel. It is the
 * median of the ratios with a confidence interval from the sign test, which holds for any distribution.
 *
 * @param median the median of the ratios; the mean of the two in the middle
 * @param low the lower end of the interval
 * @param confidence probability that the interval contains the true median, if pairs are independent: at least 0.95, or less
 *     with fewer than six pairs
 */
public record PairedRatio(double median, double low, double high, double confidence) {
    private static final double ASKED = 0.95;

    /**
     * Returns the ratio of times that were measured in pairs.
     *
     * @param times at least one time
     * @param others the same number; the ratio is the former divided by the latter
     */
    public static PairedRatio of(List<Double> times, List<Double> others) {
        if (times.isEmpty() || times.size() != others.size()) {
            throw new IllegalArgumentException(
                    "expected pairs, but found " + times.size() + " and " + others.size() + " times");
        }
        List<Double> sorted = IntStream.range(0, times.size()).mapToObj(pair -> times.get(pair) / others.get(pair))
                .sorted().toList();
        int count = sorted.size();
        int left = 0; // ratios left out at either end
        double logTerm = Math.log(2) - count * Math.log(2); // a term itself is too small for many pairs
        double outside = Math.exp(logTerm);
        double next = outside;
        while (2 * (left + 1) < count) {
            logTerm += Math.log((double) (count - left) / (left + 1));
            next += Math.exp(logTerm);
            if (1 - next < ASKED) {
                break;
            }
            left++;
            outside = next;
        }
        return new PairedRatio(StepTime.median(sorted), sorted.get(left), sorted.get(count - 1 - left), 1 - outside);
    }

    /** Returns whether the pairs show that the times differ. */
    public boolean isApart() {
        return confidence >= ASKED && (high < 1 || low > 1);
    }
}
