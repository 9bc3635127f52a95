package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.cpu.loop.Elements;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.memory.CpuTensor;

/**
 * Rows sorted by expert and back. Letters: N rows, E experts, k choices of a row, R = N k, C
 * and K any size. Tensors that are not rows of an activation are addresses of floats or ints.
 */
public final class Routing {
    private Routing() {
    }

    /** chosen, positions (or 0) and places of R choices, segments [E + 1], rows [R]. */
    public static void tables(long chosen, long positions, long segments, long rows, long places, int k, int e,
            int choices) {
        for (int expert = 0; expert <= e; expert++) {
            Lanes.setInt(segments, expert, 0);
        }
        for (int choice = 0; choice < choices; choice++) {
            int expert = Lanes.getInt(chosen, choice);
            if (expert < 0 || expert >= e) {
                throw new IllegalArgumentException("routingTables: a row chose expert " + expert + " of " + e);
            }
            add(segments, expert, isKept(positions, choice) ? 1 : 0);
        }
        // From the numbers of choices to the ends of segments, which go down to their beginnings.
        for (int expert = 1; expert <= e; expert++) {
            add(segments, expert, Lanes.getInt(segments, expert - 1));
        }
        for (int row = Lanes.getInt(segments, e); row < choices; row++) {
            Lanes.setInt(rows, row, 0);
        }
        for (int choice = choices - 1; choice >= 0; choice--) {
            if (isKept(positions, choice)) {
                add(segments, Lanes.getInt(chosen, choice), -1);
            }
        }
        if (positions == 0) {
            inOrder(chosen, segments, rows, places, k, e, choices);
            return;
        }
        for (int choice = 0; choice < choices; choice++) {
            int place = -1;
            if (isKept(positions, choice)) {
                place = Lanes.getInt(segments, Lanes.getInt(chosen, choice)) + Lanes.getInt(positions, choice);
                Lanes.setInt(rows, place, choice / k);
            }
            Lanes.setInt(places, choice, place);
        }
    }

    /** Moves the beginning of each segment to its end, choice by choice, and back. */
    private static void inOrder(long chosen, long segments, long rows, long places, int k, int e, int choices) {
        for (int choice = 0; choice < choices; choice++) {
            int expert = Lanes.getInt(chosen, choice);
            int place = Lanes.getInt(segments, expert);
            Lanes.setInt(rows, place, choice / k);
            Lanes.setInt(places, choice, place);
            add(segments, expert, 1);
        }
        for (int expert = e; expert > 0; expert--) {
            Lanes.setInt(segments, expert, expert == e ? choices : Lanes.getInt(segments, expert - 1));
        }
        Lanes.setInt(segments, 0, 0);
    }

    private static boolean isKept(long positions, int choice) {
        return positions == 0 || Lanes.getInt(positions, choice) >= 0;
    }

    /** logits [N x E]; scratch memory of {@link Lanes#ALIGNMENT} and E floats. */
    public static double zLoss(long logits, int n, int e, long scratch) {
        double sum = 0;
        for (int row = 0; row < n; row++) {
            double z = logSumExp(logits + 4L * row * e, e, scratch);
            sum += z * z;
        }
        return sum;
    }

    private static double logSumExp(long x, int e, long scratch) {
        float highest = RowLoop.highest(x, e, Float.NEGATIVE_INFINITY, scratch);
        return highest
                + StrictMath.log(RowLoop.exponentials(x, highest, scratch + Lanes.ALIGNMENT, e, scratch));
    }

    /**
     * Some rows of dLogits [N x E]: logits [N x E].
     *
     * @param scratch memory of {@link Lanes#ALIGNMENT} and 2 E floats
     */
    public static void zLossBackward(long logits, double factor, CpuTensor dLogits, int from, int rows, long scratch) {
        int e = dLogits.size(1);
        long exponentials = scratch + Lanes.ALIGNMENT;
        for (int row = from; row < from + rows; row++) {
            long x = logits + 4L * row * e;
            float highest = RowLoop.highest(x, e, Float.NEGATIVE_INFINITY, scratch);
            float sum = RowLoop.exponentials(x, highest, exponentials, e, scratch);
            double z = highest + StrictMath.log(sum);
            long to = dLogits.read((long) row * e, e, exponentials + 4L * e);
            Elements.addScaled(exponentials, (float) (factor * 2 * z / sum), to, e);
            dLogits.written((long) row * e, e, to);
        }
    }

    private static void add(long integers, int index, int addend) {
        Lanes.setInt(integers, index, Lanes.getInt(integers, index) + addend);
    }

    /**
     * Some rows of y [N x C]: z [R x C], places [N x k], weights [N x k] or 0.
     *
     * @param scratch memory of 2 C floats
     */
    public static void combine(CpuTensor z, long places, long weights, CpuTensor y, int k, int from, int rows,
            long scratch) {
        int c = y.size(1);
        for (int row = from; row < from + rows; row++) {
            long to = y.target((long) row * c, scratch);
            boolean isFirst = true;
            for (int choice = row * k; choice < (row + 1) * k; choice++) {
                int place = Lanes.getInt(places, choice);
                if (place < 0) {
                    continue;
                }
                long addend = z.read((long) place * c, c, scratch + 4L * c);
                float weight = weights == 0 ? 1 : Lanes.get(weights, choice);
                if (isFirst) {
                    Elements.copy(addend, to, c);
                    Elements.scale(to, weight, c);
                } else {
                    Elements.addScaled(addend, weight, to, c);
                }
                isFirst = false;
            }
            if (isFirst) {
                Elements.fill(to, 0, c);
            }
            y.written((long) row * c, c, to);
        }
    }

    /**
     * Some of the R choices: weights, places and dWeights [R], inner and dInner [R x K].
     *
     * @param scratch memory of {@link Lanes#ALIGNMENT} and 2 K floats
     */
    public static void combineBackward(long weights, long places, CpuTensor inner, CpuTensor dInner, long dWeights,
            int from, int choices, long scratch) {
        int k = inner.size(1);
        for (int choice = from; choice < from + choices; choice++) {
            long at = (long) Lanes.getInt(places, choice) * k;
            if (at < 0) {
                Lanes.set(dWeights, choice, 0);
                continue;
            }
            long left = inner.read(at, k, scratch + Lanes.ALIGNMENT);
            long right = dInner.read(at, k, scratch + Lanes.ALIGNMENT + 4L * k);
            Lanes.set(dWeights, choice, RowLoop.dot(left, right, k, scratch));
            float weight = Lanes.get(weights, choice);
            Elements.scale(left, weight, k);
            Elements.scale(right, weight, k);
            inner.written(at, k, left);
            dInner.written(at, k, right);
        }
    }

    /** scores [N x E], R choices, loads [2 E]. */
    public static void addLoads(long scores, long chosen, long loads, int n, int e, int choices) {
        for (int choice = 0; choice < choices; choice++) {
            int expert = Lanes.getInt(chosen, choice);
            Lanes.set(loads, expert, Lanes.get(loads, expert) + 1);
        }
        for (int expert = 0; expert < e; expert++) {
            double sum = 0;
            for (int row = 0; row < n; row++) {
                sum += Lanes.get(scores + 4L * row * e, expert);
            }
            Lanes.set(loads, e + expert, (float) (Lanes.get(loads, e + expert) + sum));
        }
    }
}
