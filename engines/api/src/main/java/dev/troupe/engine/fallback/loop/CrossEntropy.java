package dev.troupe.engine.fallback.loop;

import dev.troupe.engine.Engine;

/** Softmax cross-entropy of rows. Letters: N rows, V vocabulary size. */
public final class CrossEntropy {
    private CrossEntropy() {
    }

    /** logits [N x V], targets [N]; rowLoss, rowLogSumExp [N]. */
    public static void forward(double[] logits, int[] targets, double[] rowLoss, double[] rowLogSumExp, int v) {
        for (int row = 0; row < targets.length; row++) {
            int at = row * v;
            double highest = Double.NEGATIVE_INFINITY;
            for (int j = 0; j < v; j++) {
                highest = Math.max(highest, logits[at + j]);
            }
            double sum = 0;
            for (int j = 0; j < v; j++) {
                sum += StrictMath.exp(logits[at + j] - highest);
            }
            rowLogSumExp[row] = highest + StrictMath.log(sum);
            rowLoss[row] = targets[row] < 0 ? 0 : rowLogSumExp[row] - logits[at + targets[row]];
        }
    }

    /** dLogits = scale (softmax(logits) - onehot(targets)), 0 for a target that does not count; dLogits may be logits. */
    public static void backward(double[] logits, int[] targets, double[] rowLogSumExp, double scale, double[] dLogits,
            int v) {
        for (int row = 0; row < targets.length; row++) {
            int at = row * v;
            for (int j = 0; j < v; j++) {
                double probability = StrictMath.exp(logits[at + j] - rowLogSumExp[row]);
                double error = j == targets[row] ? probability - 1 : probability;
                dLogits[at + j] = targets[row] == Engine.NOT_COUNTED ? 0 : scale * error;
            }
        }
    }

    /** sums = exp(rowLogSumExp - highest), all [N]. */
    public static void shardSum(double[] rowLogSumExp, double[] highest, double[] sums) {
        for (int row = 0; row < sums.length; row++) {
            sums[row] = StrictMath.exp(rowLogSumExp[row] - highest[row]);
        }
    }

    /** Corrects rowLoss and rowLogSumExp of a shard for the whole vocabulary, all [N]. */
    public static void joinShards(int[] targets, double[] highest, double[] sums, double[] rowLoss,
            double[] rowLogSumExp) {
        for (int row = 0; row < sums.length; row++) {
            double whole = highest[row] + StrictMath.log(sums[row]);
            rowLoss[row] += targets[row] < 0 ? 0 : whole - rowLogSumExp[row];
            rowLogSumExp[row] = whole;
        }
    }
}
