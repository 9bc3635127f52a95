package dev.troupe.look.compare;

import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** The check that schedules on the same model and data have the same losses. */
final class Agreement {
    static final String SAME = "the same to the bit";

    private Agreement() {
    }

    /**
     * Returns a sentence that compares the losses of one schedule with the expected ones.
     *
     * @param runs the loss of each step, for each run of the schedule
     * @param expected the loss of each step of the first schedule
     * @param tolerance largest relative deviation of a loss if gradients were added in another order
     * @throws ComparisonException if the runs differ among themselves, or deviate too far from the expected losses
     */
    static String of(String label, List<List<Double>> runs, List<Double> expected, double tolerance) {
        List<Double> losses = runs.getFirst();
        for (List<Double> others : runs) {
            if (!others.equals(losses)) {
                throw new ComparisonException(
                        "two runs of " + label + " have different losses: " + losses + " and " + others);
            }
        }
        if (losses.equals(expected)) {
            return SAME;
        }
        // NaN does not pass, since it is not at most the tolerance.
        boolean near = losses.size() == expected.size() && IntStream.range(0, losses.size())
                .allMatch(step -> apart(losses.get(step), expected.get(step)) <= tolerance);
        if (!near) {
            throw new ComparisonException(label + " does not have the losses of the first schedule: " + losses
                    + " instead of " + expected);
        }
        return String.format(Locale.ROOT, "within %.1e: another order of sums", IntStream.range(0, losses.size())
                .mapToDouble(step -> apart(losses.get(step), expected.get(step))).max().orElse(0));
    }

    private static double apart(double loss, double expected) {
        return Math.abs(loss / expected - 1);
    }
}
