package dev.troupe.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The samples of one quantity. Thread rule: one thread. */
public final class Samples {
    private final List<Double> values = new ArrayList<>();

    /** Adds a measurement. */
    public void add(double value) {
        values.add(value);
    }

    public void addAll(List<Double> more) {
        values.addAll(more);
    }

    public int count() {
        return values.size();
    }

    public double latest() {
        return values.getLast();
    }

    double mean() {
        return values.stream().mapToDouble(Double::doubleValue).average()
                .orElseThrow(() -> new IllegalStateException("nothing was measured"));
    }

    /** Returns the median; for an even number of samples the upper of the middle two. */
    public double median() {
        return quantile(0.5);
    }

    public double least() {
        return quantile(0);
    }

    public double greatest() {
        return quantile(1);
    }

    /** Returns the value below which a share of the samples lies, rounded to the nearest sample. */
    public double quantile(double share) {
        if (values.isEmpty()) {
            throw new IllegalStateException("nothing was measured");
        }
        List<Double> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        return sorted.get((int) Math.round(share * (sorted.size() - 1)));
    }
}
