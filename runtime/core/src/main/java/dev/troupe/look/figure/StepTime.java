package dev.troupe.look.figure;

import java.util.List;

public record StepTime(double medianSeconds, double leastSeconds, double mostSeconds) {
    public static StepTime of(List<Double> seconds) {
        List<Double> sorted = seconds.stream().sorted().toList();
        return new StepTime(median(sorted), sorted.getFirst(), sorted.getLast());
    }

    /** Returns the median of at least one number; of an even number, the mean of the two in the middle. */
    public static double median(List<Double> numbers) {
        List<Double> sorted = numbers.stream().sorted().toList();
        int middle = sorted.size() / 2; // rounded down
        return sorted.size() % 2 == 1
                ? sorted.get(middle)
                : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
}
