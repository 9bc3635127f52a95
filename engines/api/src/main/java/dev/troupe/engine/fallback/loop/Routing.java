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

    /** chosen and places [N x k], segments [E + 1], rows [R]. */
    public static void tables(int[] chosen, int[] segments, int[] rows, int[] places, int k) {
        Arrays.fill(segments, 0);
        for (int expert : chosen) {
            segments[expert + 1]++;
        }
        for (int expert = 1; expert < segments.length; expert++) {
            segments[expert] += segments[expert - 1];
        }
        int[] next = segments.clone();
        for (int choice = 0; choice < chosen.length; choice++) {
            int place = next[chosen[choice]]++;
            rows[place] = choice / k;
            places[choice] = place;
        }
    }

    /** x [any x C], rows [R], y [R x C]. */
    public static void gather(double[] x, int[] rows, double[] y, int c) {
        for (int row = 0; row < rows.length; row++) {
            System.arraycopy(x, rows[row] * c, y, row * c, c);
        }
    }

    /** z [R x C], places [N x k], weights [N x k] or null, y [N x C]. */
    public static void combine(double[] z, int[] places, double[] weights, double[] y, int k, int c) {
        for (int choice = 0; choice < places.length; choice++) {
            int to = choice / k * c;
            int from = places[choice] * c;
            double weight = weights == null ? 1 : weights[choice];
            for (int j = 0; j < c; j++) {
                double addend = weight * z[from + j];
                y[to + j] = choice % k == 0 ? addend : y[to + j] + addend;
            }
        }
    }

    /** weights, places and dWeights [N x k], inner and dInner [R x K]. */
    public static void combineBackward(double[] weights, int[] places, double[] inner, double[] dInner,
            double[] dWeights, int width) {
        for (int choice = 0; choice < places.length; choice++) {
            int from = places[choice] * width;
            double sum = 0;
            for (int i = from; i < from + width; i++) {
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
