package dev.troupe.compare;

import java.util.ArrayList;
import java.util.List;

/**
 * A time that many measurements of many steps have in common: the median over steps of the mean within each. What a step
 * takes is a sum, so that within a step a late one counts for as much as it was late; a step that was held up as a whole
 * counts no more than any other.
 *
 * <p>Thread rule: one thread.
 */
final class MedianOfMeans {
    private final List<Double> means = new ArrayList<>();

    /** Adds what was measured in one step; nothing where that is nothing. */
    void add(List<Long> nanos) {
        nanos.stream().mapToLong(Long::longValue).average().ifPresent(means::add);
    }

    boolean isEmpty() {
        return means.isEmpty();
    }

    /** To the nearest nanosecond; there must be some. */
    long nanos() {
        return Math.round(StepTime.median(means));
    }
}
