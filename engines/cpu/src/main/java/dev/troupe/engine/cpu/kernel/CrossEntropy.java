package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.Engine;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.memory.CpuTensor;

/** Softmax cross-entropy of rows. Letters: N rows, V vocabulary size. A row is read from memory once. */
public final class CrossEntropy {
    private static final int BLOCK = 1024;
    private static final long ROW = Lanes.ALIGNMENT + 4L * BLOCK;

    private CrossEntropy() {
    }

    public static long scratchBytes(int v) {
        return ROW + 4L * v;
    }

    /** Some rows of logits [N x V], targets [N]; rowLoss, rowLogSumExp [N]. */
    public static void forward(CpuTensor logits, long targets, long rowLoss, long rowLogSumExp, int first, int rows,
            long scratch) {
        int v = logits.size(1);
        for (int row = first; row < first + rows; row++) {
            long at = logits.read((long) row * v, v, scratch + ROW);
            float highest = RowLoop.highest(at, v, Float.NEGATIVE_INFINITY, scratch);
            double sum = 0;
            for (int from = 0; from < v; from += BLOCK) {
                sum += RowLoop.exponentials(at + 4L * from, highest, scratch + Lanes.ALIGNMENT,
                        Math.min(BLOCK, v - from),
                        scratch);
            }
            double logSum = highest + Math.log(sum);
            Lanes.set(rowLogSumExp, row, (float) logSum);
            int target = Lanes.getInt(targets, row);
            Lanes.set(rowLoss, row, target < 0 ? 0 : (float) (logSum - Lanes.get(at, target)));
        }
    }

    /** dLogits = scale (softmax(logits) - onehot(targets)), 0 for a target that does not count; dLogits may be logits. */
    public static void backward(CpuTensor logits, long targets, long rowLogSumExp, float scale, CpuTensor dLogits,
            int first,
            int rows, long scratch) {
        int v = logits.size(1);
        for (int row = first; row < first + rows; row++) {
            long at = logits.read((long) row * v, v, scratch + ROW);
            long to = dLogits.target((long) row * v, scratch + ROW);
            int target = Lanes.getInt(targets, row);
            if (target == Engine.NOT_COUNTED) {
                RowLoop.fill(to, 0, v);
                dLogits.written((long) row * v, v, to);
                continue;
            }
            float logSum = Lanes.get(rowLogSumExp, row);
            float targetLogit = target == Engine.NOT_IN_SHARD ? 0 : Lanes.get(at, target);
            for (int from = 0; from < v; from += BLOCK) {
                int count = Math.min(BLOCK, v - from);
                RowLoop.exponentials(at + 4L * from, logSum, to + 4L * from, count, scratch);
                RowLoop.scale(to + 4L * from, scale, count);
            }
            if (target != Engine.NOT_IN_SHARD) {
                Lanes.set(to, target, (float) (scale * (Math.exp((double) targetLogit - logSum) - 1)));
            }
            dLogits.written((long) row * v, v, to);
        }
    }

    /** sums = exp(rowLogSumExp - highest), all [N]. */
    public static void shardSum(long rowLogSumExp, long highest, long sums, int n) {
        for (int row = 0; row < n; row++) {
            double exponent = (double) Lanes.get(rowLogSumExp, row) - Lanes.get(highest, row);
            Lanes.set(sums, row, (float) StrictMath.exp(exponent));
        }
    }

    /** Corrects rowLoss and rowLogSumExp of a shard for the whole vocabulary, all [N]. */
    public static void joinShards(long targets, long highest, long sums, long rowLoss, long rowLogSumExp, int n) {
        for (int row = 0; row < n; row++) {
            double whole = Lanes.get(highest, row) + StrictMath.log(Lanes.get(sums, row));
            if (Lanes.getInt(targets, row) >= 0) {
                Lanes.set(rowLoss, row, (float) (Lanes.get(rowLoss, row) + (whole - Lanes.get(rowLogSumExp, row))));
            }
            Lanes.set(rowLogSumExp, row, (float) whole);
        }
    }
}
