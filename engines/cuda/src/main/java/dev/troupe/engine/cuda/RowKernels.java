package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.device.Device;

/**
 * Kernels on rows: norms, token ids, sums of columns. Letters: N rows, C hidden size. Sums over rows are computed in chunks
 * of rows, which are added in their order.
 */
abstract class RowKernels extends FlatKernels {
    private static final int ROW_THREADS = 128;
    private static final int ROWS_OF_BLOCK = 4;
    private static final int TOKEN_THREADS = 128;
    private static final int MOST_EMBEDDED = 2048;
    private static final int COLUMN_THREADS = 256;
    private static final int LANES = 32;
    private static final int ROWS_OF_BACKWARD_BLOCK = COLUMN_THREADS / LANES;
    /** The fewest rows of a chunk: a norm's block reads its rows twice, and should find them in the cache. */
    private static final int ROWS_OF_CHUNK = 64;
    private static final int ROWS_OF_NORM_CHUNK = 32;
    private static final int MOST_CHUNKS = 1024;
    private static final int BYTES_AT_ONCE = 16;

    RowKernels(Device device, DataType computeType) {
        super(device, computeType);
    }

    private static int rows(Tensor matrix) {
        return matrix.shape().size(0);
    }

    private static int columns(Tensor matrix) {
        return matrix.shape().size(1);
    }

    @Override
    public void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y, Tensor mean,
            Tensor reciprocalDeviation) {
        launch.ofType("layer_norm").with(residual).with(x).with(gamma).with(beta).real(epsilon).with(y).with(mean)
                .with(reciprocalDeviation);
        runRows(rows(x), columns(x));
    }

    @Override
    public void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
        launch.ofType("layer_norm_backward").with(dy).with(x).with(gamma).with(mean).with(reciprocalDeviation).with(dx)
                .flag(accumulate);
        runBackwardRows(rows(x), columns(x));
    }

    @Override
    public void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
        Chunks chunks = new Chunks(rows(x), columns(x), ROWS_OF_NORM_CHUNK);
        launch.ofType("layer_norm_chunks").with(dy).with(x).with(mean).with(reciprocalDeviation);
        chunks.runColumns(dGamma, dBeta);
    }

    @Override
    public void layerNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate, Tensor dGamma, Tensor dBeta) {
        Chunks chunks = new Chunks(rows(x), columns(x), ROWS_OF_NORM_CHUNK);
        launch.ofType("layer_norm_backward_both").with(dy).with(x).with(gamma).with(mean).with(reciprocalDeviation)
                .with(dx).flag(accumulate);
        chunks.runRows(dGamma, dBeta);
    }

    @Override
    public void rmsNorm(Tensor residual, Tensor x, Tensor gamma, double epsilon, Tensor y, Tensor reciprocalRoot) {
        launch.ofType("rms_norm").with(residual).with(x).with(gamma).real(epsilon).with(y).with(reciprocalRoot);
        runRows(rows(reciprocalRoot), rows(gamma));
    }

    @Override
    public void rmsNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate) {
        launch.ofType("rms_norm_backward").with(dy).with(x).with(gamma).with(reciprocalRoot).with(dx).flag(accumulate);
        runBackwardRows(rows(reciprocalRoot), rows(gamma));
    }

    @Override
    public void rmsNormBackwardWeight(Tensor dy, Tensor x, Tensor reciprocalRoot, Tensor dGamma) {
        Chunks chunks = new Chunks(rows(reciprocalRoot), rows(dGamma), ROWS_OF_NORM_CHUNK);
        launch.ofType("rms_norm_chunks").with(dy).with(x).with(reciprocalRoot);
        chunks.runColumns(dGamma, null);
    }

    @Override
    public void rmsNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate, Tensor dGamma) {
        Chunks chunks = new Chunks(rows(reciprocalRoot), rows(gamma), ROWS_OF_NORM_CHUNK);
        launch.ofType("rms_norm_backward_both").with(dy).with(x).with(gamma).with(reciprocalRoot).with(dx)
                .flag(accumulate);
        chunks.runRows(dGamma, null);
    }

    @Override
    public void biasBackward(Tensor dy, Tensor dBias) {
        Chunks chunks = new Chunks(rows(dy), columns(dy), ROWS_OF_CHUNK);
        launch.ofType("bias_chunks").with(dy);
        chunks.runColumns(dBias, null);
    }

    /** A warp for each row. */
    private void runRows(int n, int c) {
        launch.integer(n).integer(c).run(Math.ceilDiv(n, ROWS_OF_BLOCK), ROW_THREADS);
    }

    /** A warp for each row, in kernels that also sum up columns. */
    private void runBackwardRows(int n, int c) {
        launch.integer(n).integer(c).run(Math.ceilDiv(n, ROWS_OF_BACKWARD_BLOCK), COLUMN_THREADS);
    }

    /** The division of sums of columns over n rows into chunks, by the sizes alone. */
    private final class Chunks {
        private final int n;
        private final int c;
        private final int rows;
        private final int count;

        Chunks(int n, int c, int least) {
            this.n = n;
            this.c = c;
            rows = least * Math.ceilDiv(n, least * MOST_CHUNKS);
            count = Math.ceilDiv(n, rows);
        }

        /** Runs the prepared kernel on a block for each chunk and each tile of columns. */
        void runColumns(Tensor gradient, Tensor second) {
            int columnsOfTile = LANES * BYTES_AT_ONCE / computeType().elementBytes();
            long partial = prepare(second);
            launch.run(Math.ceilDiv(c, columnsOfTile), count, COLUMN_THREADS);
            addTo(partial, gradient, second);
        }

        /** Runs the prepared kernel on a block for each chunk. */
        void runRows(Tensor gradient, Tensor second) {
            long partial = prepare(second);
            launch.run(count, COLUMN_THREADS);
            addTo(partial, gradient, second);
        }

        private long prepare(Tensor second) {
            long partial = launch.scratch((long) count * c * (second == null ? 1 : 2) * Float.BYTES);
            launch.wide(partial).integer(rows).integer(n).integer(c);
            return partial;
        }

        /** Adds the sums of the chunks to one gradient, or to two. */
        private void addTo(long partial, Tensor gradient, Tensor second) {
            int warps = Math.min(LANES, count);
            launch.of("add_chunks").wide(partial).integer(count).integer(warps).with(gradient).with(second).integer(c)
                    .run(Math.ceilDiv(second == null ? c : 2 * c, LANES), warps * LANES);
        }
    }

    @Override
    public void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        launch.ofType("embedding").with(tokens).with(tokenTable).with(positionTable).integer(sequenceLength).with(y)
                .integer(columns(y)).run(rows(y), TOKEN_THREADS);
    }

    @Override
    public void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        int n = rows(dy);
        int c = columns(dy);
        // The block of a row reads the ids of all rows before it, so a launch has few rows; earlier sums come first.
        for (long first = 0; first < n; first += MOST_EMBEDDED) {
            int count = (int) Math.min(MOST_EMBEDDED, n - first);
            launch.ofType("embedding_backward").with(tokens, first).with(dy, first * c).with(dTokenTable).integer(count)
                    .integer(c).run(count, TOKEN_THREADS);
        }
        if (dPositionTable != null) {
            launch.ofType("position_backward").with(dy).integer(sequenceLength).with(dPositionTable).integer(n)
                    .integer(c).run(sequenceLength, TOKEN_THREADS);
        }
    }

    @Override
    public void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
        launch.ofType("cross_entropy").with(logits).with(targets).with(rowLoss).with(rowLogSumExp)
                .integer(columns(logits)).run(rows(logits), TOKEN_THREADS);
    }

    @Override
    public void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale,
            Tensor dLogits) {
        launch.ofType("cross_entropy_backward").with(logits).with(targets).with(rowLogSumExp).real(scale).with(dLogits)
                .integer(columns(logits)).run(rows(logits), TOKEN_THREADS);
    }

    @Override
    public void crossEntropyBoth(Tensor logits, Tensor targets, double scale, Tensor rowLoss, Tensor rowLogSumExp) {
        launch.ofType("cross_entropy_both").with(logits).with(targets).with(rowLoss).with(rowLogSumExp).real(scale)
                .integer(columns(logits)).run(rows(logits), TOKEN_THREADS);
    }

    @Override
    public void shardSum(Tensor rowLogSumExp, Tensor highest, Tensor sums) {
        launch.of("shard_sum").with(rowLogSumExp).with(highest).with(sums).runFlat(rows(sums));
    }

    @Override
    public void joinShards(Tensor targets, Tensor highest, Tensor sums, Tensor rowLoss, Tensor rowLogSumExp) {
        launch.of("join_shards").with(targets).with(highest).with(sums).with(rowLoss).with(rowLogSumExp)
                .runFlat(rows(sums));
    }

    /** Heads that turn in part are turned on the host. */
    @Override
    public void rotary(Tensor x, Tensor starts, int sequenceLength, Tensor cosines, Tensor sines, int headSize,
            boolean back, Tensor y) {
        if (2 * columns(cosines) < headSize) {
            super.rotary(x, starts, sequenceLength, cosines, sines, headSize, back, y);
            return;
        }
        launch.ofType("rotary").with(x).with(starts).integer(sequenceLength).with(cosines).with(sines)
                .integer(columns(cosines)).flag(back).with(y).integer(columns(x)).run(rows(x), ROW_THREADS);
    }
}
