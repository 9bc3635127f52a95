package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.device.Device;

/**
 * The kernels that take rows: norms, token ids, sums of columns. Letters: N rows, C hidden size. Sums over rows are made in
 * chunks of rows, which are added in their order.
 */
abstract class RowKernels extends FlatKernels {
    private static final int ROW_THREADS = 128;
    private static final int ROWS_OF_BLOCK = 4;
    private static final int TOKEN_THREADS = 128;
    private static final int COLUMN_THREADS = 256;
    private static final int COLUMNS_OF_BLOCK = 32;
    private static final int ROWS_OF_CHUNK = 256;

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
        runRows(rows(x), columns(x));
    }

    @Override
    public void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
        int n = rows(x);
        int c = columns(x);
        long partial = chunks(n, c);
        launch.ofType("layer_norm_chunks").with(dy).with(x).with(mean).with(reciprocalDeviation).wide(partial);
        runColumns(n, c, partial, dGamma);
        biasBackward(dy, dBeta);
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
        runRows(rows(reciprocalRoot), rows(gamma));
    }

    @Override
    public void rmsNormBackwardWeight(Tensor dy, Tensor x, Tensor reciprocalRoot, Tensor dGamma) {
        int n = rows(reciprocalRoot);
        int c = rows(dGamma);
        long partial = chunks(n, c);
        launch.ofType("rms_norm_chunks").with(dy).with(x).with(reciprocalRoot).wide(partial);
        runColumns(n, c, partial, dGamma);
    }

    @Override
    public void biasBackward(Tensor dy, Tensor dBias) {
        int n = rows(dy);
        int c = columns(dy);
        long partial = chunks(n, c);
        launch.ofType("bias_chunks").with(dy).wide(partial);
        runColumns(n, c, partial, dBias);
    }

    /** A warp a row. */
    private void runRows(int n, int c) {
        launch.integer(n).integer(c).run(Math.ceilDiv(n, ROWS_OF_BLOCK), ROW_THREADS);
    }

    /** Scratch memory for the sums of all chunks. */
    private long chunks(int n, int c) {
        return launch.scratch((long) Math.ceilDiv(n, ROWS_OF_CHUNK) * c * Float.BYTES);
    }

    /** Runs the kernel that sums chunks, and adds them to the gradient. */
    private void runColumns(int n, int c, long partial, Tensor gradient) {
        int chunks = Math.ceilDiv(n, ROWS_OF_CHUNK);
        launch.integer(n).integer(c).run(Math.ceilDiv(c, COLUMNS_OF_BLOCK), chunks, COLUMN_THREADS);
        launch.of("add_chunks").wide(partial).integer(chunks).with(gradient).integer(c)
                .run(Math.ceilDiv(c, COLUMN_THREADS), COLUMN_THREADS);
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
        launch.ofType("embedding_backward").with(tokens).with(dy).with(dTokenTable).integer(n).integer(c)
                .run(n, TOKEN_THREADS);
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
    public void shardSum(Tensor rowLogSumExp, Tensor highest, Tensor sums) {
        launch.of("shard_sum").with(rowLogSumExp).with(highest).with(sums).runFlat(rows(sums));
    }

    @Override
    public void joinShards(Tensor targets, Tensor highest, Tensor sums, Tensor rowLoss, Tensor rowLogSumExp) {
        launch.of("join_shards").with(targets).with(highest).with(sums).with(rowLoss).with(rowLogSumExp)
                .runFlat(rows(sums));
    }

    @Override
    public void rotary(Tensor x, Tensor starts, int sequenceLength, Tensor cosines, Tensor sines, boolean back,
            Tensor y) {
        launch.ofType("rotary").with(x).with(starts).integer(sequenceLength).with(cosines).with(sines)
                .integer(columns(cosines)).flag(back).with(y).integer(columns(x)).run(rows(x), ROW_THREADS);
    }
}
