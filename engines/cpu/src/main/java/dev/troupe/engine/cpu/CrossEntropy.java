package dev.troupe.engine.cpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;

/** Softmax cross-entropy of rows. Letters: N rows, V vocabulary size. A row is read from memory once. */
final class CrossEntropy {
    private CrossEntropy() {
    }

    /** logits [rows x V], targets [rows]; rowLoss, rowLogSumExp [rows]. */
    static void forward(long logits, long targets, long rowLoss, long rowLogSumExp, int rows, int v) {
        for (int row = 0; row < rows; row++) {
            long at = logits + 4L * row * v;
            float highest = Softmax.highest(at, v, Float.NEGATIVE_INFINITY);
            double sum = Softmax.sumOfExponentials(at, highest, v);
            double logSum = highest + Math.log(sum);
            Lanes.set(rowLogSumExp, row, (float) logSum);
            Lanes.set(rowLoss, row, (float) (logSum - Lanes.get(at, Lanes.getInt(targets, row))));
        }
    }

    /** dLogits = scale (softmax(logits) - onehot(targets)); dLogits may be logits. */
    static void backward(long logits, long targets, long rowLogSumExp, float scale, long dLogits, int rows, int v) {
        for (int row = 0; row < rows; row++) {
            long at = 4L * row * v;
            int target = Lanes.getInt(targets, row);
            float logSum = Lanes.get(rowLogSumExp, row);
            float targetLogit = Lanes.get(logits + at, target);
            scaledProbabilities(logits + at, logSum, scale, dLogits + at, v);
            Lanes.set(dLogits + at, target, (float) (scale * (Math.exp((double) targetLogit - logSum) - 1)));
        }
    }

    private static void scaledProbabilities(long logits, float logSum, float scale, long dLogits, int v) {
        int whole = Lanes.whole(v);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(VectorMath.exp(Lanes.load(logits, i).sub(logSum)).mul(scale), dLogits, i);
        }
        if (whole < v) {
            VectorMask<Float> rest = Lanes.rest(whole, v);
            FloatVector logit = Lanes.load(logits, whole, rest);
            Lanes.store(VectorMath.exp(logit.sub(logSum)).mul(scale), dLogits, whole, rest);
        }
    }
}
