package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.TensorGroup;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Makes the cross-entropies of vocabulary shards that of the whole vocabulary, without ever gathering logits (Shoeybi et
 * al. 2019, section 3). The ranks exchange three numbers a row: the largest of the shards' logarithms of sums of
 * exponentials, the sum of exponentials over the shards, and the loss, which the rank with the target's logit knows. A
 * whole vocabulary is one shard, and needs none of it.
 *
 * <p>It computes on the host: the numbers are few, and the group waits for all of them anyway.
 */
final class VocabularyLoss {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Engine engine;
    private final TensorPool pool;
    private final TensorGroup group;
    private final MemorySegment hostRows;
    private final double[] highest;
    private final double[] logs;
    private final double[] values;

    VocabularyLoss(LayerContext context) {
        engine = context.engine();
        pool = context.pool();
        group = context.share().group();
        int rows = context.rows();
        hostRows = MemorySegment.ofArray(new byte[rows * Double.BYTES]);
        highest = new double[rows];
        logs = new double[rows];
        values = new double[rows];
    }

    /**
     * From what {@link Engine#crossEntropy} made of this rank's shard to the same of all.
     *
     * @param targets
     *            of this shard, or elsewhere
     * @param rowLoss
     *            [N], changed
     * @param logSumExp
     *            [N], changed
     */
    void join(Tensor targets, Tensor rowLoss, Tensor logSumExp) {
        if (group.size() == 1) {
            return;
        }
        int rows = rowLoss.shape().size(0);
        Tensor most = pool.takeLike(rowLoss);
        Tensor sums = pool.takeLike(rowLoss);
        engine.copy(logSumExp, most);
        group.allReduceMax(most);
        if (engine.holdsValues()) {
            read(logSumExp, logs);
            read(most, highest);
            for (int row = 0; row < rows; row++) {
                values[row] = StrictMath.exp(logs[row] - highest[row]);
            }
            write(values, sums);
        }
        group.allReduce(sums);
        if (engine.holdsValues()) {
            read(sums, values);
            for (int row = 0; row < rows; row++) {
                highest[row] += StrictMath.log(values[row]);
            }
            write(highest, logSumExp);
            addTo(rowLoss, targets);
        }
        group.allReduce(rowLoss);
        pool.give(most);
        pool.give(sums);
    }

    /** The loss of a shard's target grows by as much as the logarithm of the sum does with all shards in it. */
    private void addTo(Tensor rowLoss, Tensor targets) {
        int rows = rowLoss.shape().size(0);
        read(rowLoss, values);
        MemorySegment ids = hostRows.asSlice(0, targets.byteCount());
        engine.copyToHost(targets, 0, ids);
        for (int row = 0; row < rows; row++) {
            if (ids.getAtIndex(INT, row) >= 0) { // neither in another shard nor without a loss
                values[row] += highest[row] - logs[row];
            }
        }
        write(values, rowLoss);
    }

    private void read(Tensor tensor, double[] numbers) {
        MemorySegment host = hostRows.asSlice(0, tensor.byteCount());
        engine.copyToHost(tensor, 0, host);
        for (int row = 0; row < tensor.shape().size(0); row++) {
            numbers[row] = switch (tensor.dataType()) {
                case FLOAT32 -> host.getAtIndex(FLOAT, row);
                case FLOAT64 -> host.getAtIndex(DOUBLE, row);
                default -> throw noRows(tensor);
            };
        }
    }

    private void write(double[] numbers, Tensor tensor) {
        MemorySegment host = hostRows.asSlice(0, tensor.byteCount());
        for (int row = 0; row < tensor.shape().size(0); row++) {
            switch (tensor.dataType()) {
                case FLOAT32 -> host.setAtIndex(FLOAT, row, (float) numbers[row]);
                case FLOAT64 -> host.setAtIndex(DOUBLE, row, numbers[row]);
                default -> throw noRows(tensor);
            }
        }
        engine.copyFromHost(host, tensor, 0);
    }

    private static IllegalStateException noRows(Tensor tensor) {
        return new IllegalStateException("losses are FLOAT32 or FLOAT64, not " + tensor.dataType());
    }
}
