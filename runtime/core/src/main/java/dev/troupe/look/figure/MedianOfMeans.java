package dev.troupe.look.figure;

import java.util.ArrayList;
import java.util.List;

/**
 * A typical time of many measurements in many steps: the median over steps of the mean within each. The mean fits a step's
 * time, which is a sum; the median limits the effect of a step that was delayed as a whole. Thread rule: one thread.
 */
public final class MedianOfMeans {
    private final List<Double> means = new ArrayList<>();

    /** Adds the measurements of one step; a step without any adds nothing. */
    public void add(List<Long> nanos) {
        nanos.stream().mapToLong(Long::longValue).average().ifPresent(means::add);
    }

    public boolean isEmpty() {
        return means.isEmpty();
    }

    /** Returns the time to the nearest nanosecond; there must be measurements. */
    public long nanos() {
        return Math.round(StepTime.median(means));
    }
}
