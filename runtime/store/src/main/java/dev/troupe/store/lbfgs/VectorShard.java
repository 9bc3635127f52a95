package dev.troupe.store.lbfgs;

import dev.troupe.store.KeyRange;
import java.util.HashMap;
import java.util.Map;

/**
 * One shard's part of all vectors. It answers with a number for each of its portions, so the total does not depend on how
 * many portions a shard has. Thread rule: one thread.
 */
public final class VectorShard {
    private final KeyRange range;
    private final int portionKeys;
    private final Map<Integer, double[]> vectors = new HashMap<>();

    /**
     * Creates a shard with zeros for all vectors.
     *
     * @param range whole portions, but for the last of all
     */
    public VectorShard(KeyRange range, int portionKeys) {
        this.range = range;
        this.portionKeys = portionKeys;
    }

    public KeyRange range() {
        return range;
    }

    /** Returns this shard's part of a vector, which the caller may change. */
    public double[] values(int vector) {
        return vectors.computeIfAbsent(vector, _ -> new double[range.count()]);
    }

    /** Does an operation; returns its answers by portion, in their order, or nothing. */
    public double[] on(VectorOperation operation) {
        switch (operation) {
            case VectorOperation.Dot(int left, int right) -> {
                double[] a = values(left);
                double[] b = values(right);
                return byPortion((sum, i) -> sum + a[i] * b[i]);
            }
            case VectorOperation.AbsoluteSum(int vector) -> {
                double[] a = values(vector);
                return byPortion((sum, i) -> sum + Math.abs(a[i]));
            }
            case VectorOperation.Largest(int vector) -> {
                double[] a = values(vector);
                return byPortion((largest, i) -> Math.max(largest, Math.abs(a[i])));
            }
            case VectorOperation.Scale(int vector, double factor) -> {
                double[] a = values(vector);
                for (int i = 0; i < a.length; i++) {
                    a[i] *= factor;
                }
            }
            case VectorOperation.Axpy(double factor, int source, int target) -> {
                double[] a = values(source);
                double[] b = values(target);
                for (int i = 0; i < b.length; i++) {
                    b[i] += factor * a[i];
                }
            }
            case VectorOperation.Copy(int source, int target) ->
                System.arraycopy(values(source), 0, values(target), 0, range.count());
        }
        return new double[0];
    }

    /** Adds an element to a portion's answer so far. */
    private interface Adding {
        double add(double soFar, int index);
    }

    private double[] byPortion(Adding adding) {
        double[] answers = new double[Math.ceilDiv(range.count(), portionKeys)];
        for (int i = 0; i < range.count(); i++) {
            answers[i / portionKeys] = adding.add(answers[i / portionKeys], i);
        }
        return answers;
    }
}
