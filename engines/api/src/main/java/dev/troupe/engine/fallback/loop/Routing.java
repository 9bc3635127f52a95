package dev.troupe.engine.fallback.loop;

import dev.troupe.engine.router.Router;
import java.util.Arrays;

/**
 * The choice of experts for rows, rows sorted by expert and back. Letters: N rows, E experts, k choices of a row, R = N k,
 * C and K any size.
 */
public final class Routing {
    private Routing() {
    }

    /** logits and scores [N x E], bias [E] or null, chosen and weights [N x k]. */
    public static void forward(Router router, double[] logits, double[] bias, double[] scores, int[] chosen,
            double[] weights, int e, int k) {
        double[] own = new double[e];
        int[] choice = new int[k];
        double[] weight = new double[k];
        for (int row = 0; row < logits.length / e; row++) {
            router.forward(Arrays.copyOfRange(logits, row * e, (row + 1) * e), bias, own, choice, weight);
            System.arraycopy(own, 0, scores, row * e, e);
            System.arraycopy(choice, 0, chosen, row * k, k);
            System.arraycopy(weight, 0, weights, row * k, k);
        }
    }

    /** scores and dLogits [N x E], chosen and dWeights [N x k], dScores [E] or null. */
    public static void backward(Router router, double[] scores, int[] chosen, double[] dWeights, double[] dScores,
            double[] dLogits, int e, int k) {
        double[] gradient = new double[e];
        for (int row = 0; row < scores.length / e; row++) {
            router.backward(Arrays.copyOfRange(scores, row * e, (row + 1) * e),
                    Arrays.copyOfRange(chosen, row * k, (row + 1) * k),
                    Arrays.copyOfRange(dWeights, row * k, (row + 1) * k), dScores, gradient);
            System.arraycopy(gradient, 0, dLogits, row * e, e);
        }
    }

    /** chosen, positions (or null) and places [N x k], segments [E + 1], rows [R]. */
    public static void tables(int[] chosen, int[] positions, int[] segments, int[] rows, int[] places, int k) {
        Arrays.fill(segments, 0);
        for (int choice = 0; choice < chosen.length; choice++) {
            segments[chosen[choice] + 1] += isKept(positions, choice) ? 1 : 0;
        }
        for (int expert = 1; expert < segments.length; expert++) {
            segments[expert] += segments[expert - 1];
        }
        Arrays.fill(rows, segments[segments.length - 1], rows.length, 0);
        int[] next = segments.clone();
        for (int choice = 0; choice < chosen.length; choice++) {
            int expert = chosen[choice];
            places[choice] = -1;
            if (isKept(positions, choice)) {
                int place = positions == null ? next[expert]++ : segments[expert] + positions[choice];
                rows[place] = choice / k;
                places[choice] = place;
            }
        }
    }

    private static boolean isKept(int[] positions, int choice) {
        return positions == null || positions[choice] >= 0;
    }

    /**
     * Gives choices positions, and returns the number of those that have none.
     *
     * @param uniform [N], or null
     * @param chosen [N x k], and weights and positions
     */
    public static int place(double[] uniform, int capacity, int[] chosen, double[] weights, int[] positions, int k) {
        int experts = Arrays.stream(chosen).max().orElse(0) + 1;
        int[] counts = new int[experts];
        int dropped = 0;
        for (int order = 0; order < k; order++) {
            for (int row = 0; row < chosen.length / k; row++) {
                int choice = row * k + order;
                int position = counts[chosen[choice]];
                boolean asks = order == 0 || uniform == null || 2 * weights[choice] > uniform[row];
                boolean isKept = asks && position < capacity;
                positions[choice] = isKept ? position : -1;
                // A first choice counts even without room.
                counts[chosen[choice]] += order == 0 || isKept ? 1 : 0;
                dropped += isKept ? 0 : 1;
            }
        }
        return dropped;
    }

    /** logits [N x E]. */
    public static double zLoss(double[] logits, int e) {
        double sum = 0;
        for (int row = 0; row < logits.length; row += e) {
            double z = logSumExp(logits, row, e);
            sum += z * z;
        }
        return sum;
    }

    /** logits and dLogits [N x E]. */
    public static void zLossBackward(double[] logits, double factor, double[] dLogits, int e) {
        for (int row = 0; row < logits.length; row += e) {
            double z = logSumExp(logits, row, e);
            for (int i = row; i < row + e; i++) {
                dLogits[i] += factor * 2 * z * StrictMath.exp(logits[i] - z);
            }
        }
    }

    private static double logSumExp(double[] logits, int from, int e) {
        double highest = Double.NEGATIVE_INFINITY;
        for (int i = from; i < from + e; i++) {
            highest = Math.max(highest, logits[i]);
        }
        double sum = 0;
        for (int i = from; i < from + e; i++) {
            sum += StrictMath.exp(logits[i] - highest);
        }
        return highest + StrictMath.log(sum);
    }

    /** x [any x C], rows [R], y [R x C]. */
    public static void gather(double[] x, int[] rows, double[] y, int c) {
        for (int row = 0; row < rows.length; row++) {
            System.arraycopy(x, rows[row] * c, y, row * c, c);
        }
    }

    /** z [R x C], places [N x k], weights [N x k] or null, y [N x C]. */
    public static void combine(double[] z, int[] places, double[] weights, double[] y, int k, int c) {
        for (int row = 0; row < places.length / k; row++) {
            int to = row * c;
            boolean isFirst = true;
            for (int choice = row * k; choice < (row + 1) * k; choice++) {
                if (places[choice] < 0) {
                    continue;
                }
                int from = places[choice] * c;
                double weight = weights == null ? 1 : weights[choice];
                for (int j = 0; j < c; j++) {
                    double addend = weight * z[from + j];
                    y[to + j] = isFirst ? addend : y[to + j] + addend;
                }
                isFirst = false;
            }
            if (isFirst) {
                Arrays.fill(y, to, to + c, 0);
            }
        }
    }

    /** weights, places and dWeights [N x k], inner and dInner [R x K]. */
    public static void combineBackward(double[] weights, int[] places, double[] inner, double[] dInner,
            double[] dWeights, int width) {
        for (int choice = 0; choice < places.length; choice++) {
            double sum = 0;
            int from = Math.max(0, places[choice]) * width;
            int to = places[choice] < 0 ? from : from + width;
            for (int i = from; i < to; i++) {
                sum += inner[i] * dInner[i];
                inner[i] *= weights[choice];
                dInner[i] *= weights[choice];
            }
            dWeights[choice] = sum;
        }
    }

    /** scores [N x E], loads [2 E]. */
    public static void addLoads(double[] scores, int[] chosen, double[] loads, int e) {
        for (int expert : chosen) {
            loads[expert]++;
        }
        double[] sums = new double[e];
        for (int i = 0; i < scores.length; i++) {
            sums[i % e] += scores[i];
        }
        for (int expert = 0; expert < e; expert++) {
            loads[e + expert] += sums[expert];
        }
    }
}
