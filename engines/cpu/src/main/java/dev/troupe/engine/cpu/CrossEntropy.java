package dev.troupe.engine.cpu;

import dev.troupe.engine.Engine;

/** Softmax cross-entropy of rows. Letters: N rows, V vocabulary size. A row is read from memory once. */
final class CrossEntropy {
    private static final int BLOCK = 1024;
    /** Bytes of the scratch memory that the kernels need. */
    static final long SCRATCH_BYTES = Lanes.ALIGNMENT + 4L * BLOCK;

    private CrossEntropy() {
    }

    /** logits [rows x V], targets [rows]; rowLoss, rowLogSumExp [rows]. */
    static void forward(long logits, long targets, long rowLoss, long rowLogSumExp, int rows, int v, long scratch) {
        for (int row = 0; row < rows; row++) {
            long at = logits + 4L * row * v;
            float highest = Softmax.highest(at, v, Float.NEGATIVE_INFINITY, scratch);
            double sum = 0;
            for (int from = 0; from < v; from += BLOCK) {
                sum += Exponential.ofRow(at + 4L * from, highest, scratch + Lanes.ALIGNMENT, Math.min(BLOCK, v - from),
                        scratch);
            }
            double logSum = highest + Math.log(sum);
            Lanes.set(rowLogSumExp, row, (float) logSum);
            int target = Lanes.getInt(targets, row);
            Lanes.set(rowLoss, row, target == Engine.ELSEWHERE ? 0 : (float) (logSum - Lanes.get(at, target)));
        }
    }

    /** dLogits = scale (softmax(logits) - onehot(targets)); dLogits may be logits. */
    static void backward(long logits, long targets, long rowLogSumExp, float scale, long dLogits, int rows, int v,
            long scratch) {
        for (int row = 0; row < rows; row++) {
            long at = 4L * row * v;
            int target = Lanes.getInt(targets, row);
            float logSum = Lanes.get(rowLogSumExp, row);
            float targetLogit = target == Engine.ELSEWHERE ? 0 : Lanes.get(logits + at, target);
            for (int from = 0; from < v; from += BLOCK) {
                int count = Math.min(BLOCK, v - from);
                long to = dLogits + at + 4L * from;
                Exponential.ofRow(logits + at + 4L * from, logSum, to, count, scratch);
                Elementwise.scale(to, scale, count);
            }
            if (target != Engine.ELSEWHERE) {
                Lanes.set(dLogits + at, target, (float) (scale * (Math.exp((double) targetLogit - logSum) - 1)));
            }
        }
    }
}
