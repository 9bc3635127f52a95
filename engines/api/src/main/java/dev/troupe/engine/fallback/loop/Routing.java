package dev.troupe.engine.fallback.loop;

import java.util.Arrays;

/**
 * The choice of experts for rows, rows sorted by expert and back. Letters: N rows, E experts, k choices of a row, R = N k,
 * C and K any size.
 */
public final class Routing {
    private Routing() {
    }

    /** logits and scores [N x E], chosen and weights [N x k]. */
    public static void forward(double[] logits, boolean normalized, double[] scores, int[] chosen, double[] weights,
            int e, int k) {
        for (int row = 0; row < logits.length / e; row++) {
            softmax(logits, scores, row * e, e);
            choose(scores, row * e, e, chosen, row * k, k);
            double sum = 0;
            for (int choice = row * k; choice < (row + 1) * k; choice++) {
                weights[choice] = scores[row * e + chosen[choice]];
                sum += weights[choice];
            }
            for (int choice = row * k; normalized && choice < (row + 1) * k; choice++) {
                weights[choice] /= sum;
            }
        }
    }

    private static void softmax(double[] x, double[] y, int from, int count) {
        double highest = Double.NEGATIVE_INFINITY;
        for (int i = from; i < from + count; i++) {
            highest = Math.max(highest, x[i]);
        }
        double sum = 0;
        for (int i = from; i < from + count; i++) {
            y[i] = StrictMath.exp(x[i] - highest);
            sum += y[i];
        }
        for (int i = from; i < from + count; i++) {
            y[i] /= sum;
        }
    }

    /** Numbers that are not comparable count as equal, so that a row always has k experts. */
    private static void choose(double[] scores, int from, int e, int[] chosen, int to, int k) {
        boolean[] isChosen = new boolean[e];
        for (int choice = 0; choice < k; choice++) {
            int best = -1;
            for (int expert = 0; expert < e; expert++) {
                if (!isChosen[expert] && (best < 0 || scores[from + expert] > scores[from + best])) {
                    best = expert;
                }
            }
            isChosen[best] = true;
            chosen[to + choice] = best;
        }
    }

    /** scores and dLogits [N x E], chosen and dWeights [N x k], dScores [E] or null. */
    public static void backward(double[] scores, int[] chosen, boolean normalized, double[] dWeights, double[] dScores,
            double[] dLogits, int e, int k) {
        double[] gradient = new double[e];
        for (int row = 0; row < scores.length / e; row++) {
            if (dScores == null) {
                Arrays.fill(gradient, 0);
            } else {
                System.arraycopy(dScores, 0, gradient, 0, e);
            }
            double sum = 1;
            double mean = 0;
            if (normalized) {
                sum = 0;
                for (int choice = row * k; choice < (row + 1) * k; choice++) {
                    sum += scores[row * e + chosen[choice]];
                }
                for (int choice = row * k; choice < (row + 1) * k; choice++) {
                    mean += dWeights[choice] * (scores[row * e + chosen[choice]] / sum);
                }
            }
            for (int choice = row * k; choice < (row + 1) * k; choice++) {
                gradient[chosen[choice]] += (dWeights[choice] - mean) / sum;
            }
            double weighted = 0;
            for (int expert = 0; expert < e; expert++) {
                weighted += scores[row * e + expert] * gradient[expert];
            }
            for (int expert = 0; expert < e; expert++) {
                dLogits[row * e + expert] = scores[row * e + expert] * (gradient[expert] - weighted);
            }
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
