package dev.troupe.compare;

import java.util.List;

/**
 * A time over repeats.
 *
 * @param medianSeconds
 *            the middle one
 * @param leastSeconds
 *            the shortest
 * @param mostSeconds
 *            the longest
 */
public record StepTime(double medianSeconds, double leastSeconds, double mostSeconds) {
    /** Of at least one time. */
    static StepTime of(List<Double> seconds) {
        List<Double> sorted = seconds.stream().sorted().toList();
        int middle = sorted.size() / 2; // rounded down
        double median = sorted.size() % 2 == 1
                ? sorted.get(middle)
                : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
        return new StepTime(median, sorted.getFirst(), sorted.getLast());
    }
}
