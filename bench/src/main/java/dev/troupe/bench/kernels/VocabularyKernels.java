package dev.troupe.bench.kernels;

import dev.troupe.engine.Tensor;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.annotations.Benchmark;

/** Both ends of the model. Sizes and thread rule as of {@link Workbench}. */
public class VocabularyKernels extends Workbench {
    private static final String ROWS = String.format(Locale.ROOT, "[%d x %d], V %d", N, C, V);
    private static final String LOGITS = String.format(Locale.ROOT, "[%d x %d]", N, V);
    private static final double ELEMENTS = (double) N * C;

    static final List<KernelWork> WORK = List.of(
            KernelWork.memory(VocabularyKernels.class, "embedding", ROWS, 2 * ELEMENTS),
            KernelWork.memory(VocabularyKernels.class, "embeddingBackward", ROWS, 3 * ELEMENTS),
            KernelWork.memory(VocabularyKernels.class, "crossEntropy", LOGITS, (double) N * V),
            KernelWork.memory(VocabularyKernels.class, "crossEntropyBackward", LOGITS, 2.0 * N * V),
            KernelWork.memory(VocabularyKernels.class, "crossEntropyThenBackward", LOGITS + ", two kernels",
                    2.0 * N * V),
            KernelWork.memory(VocabularyKernels.class, "crossEntropyBoth", LOGITS + ", in one", 2.0 * N * V),
            KernelWork.memory(VocabularyKernels.class, "shardSum", String.format(Locale.ROOT, "[%d]", N), 3.0 * N),
            KernelWork.memory(VocabularyKernels.class, "joinShards", String.format(Locale.ROOT, "[%d]", N), 7.0 * N));

    private Tensor tokens;
    private Tensor tokenTable;
    private Tensor positionTable;
    private Tensor y;
    private Tensor dTokenTable;
    private Tensor dPositionTable;
    private Tensor logits;
    private Tensor rowLoss;
    private Tensor rowLogSumExp;
    private Tensor dLogits;
    private Tensor shardSums;

    @Override
    void layOut() {
        tokens = ids(V, N);
        tokenTable = floats(V, C);
        positionTable = floats(T, C);
        y = floats(N, C);
        dTokenTable = floats(V, C);
        dPositionTable = floats(T, C);
        logits = floats(N, V);
        rowLoss = floats(N);
        rowLogSumExp = floats(N);
        dLogits = floats(N, V);
        shardSums = floats(N);
        // The backward reads the results of the forward, and so does the joining of shards.
        crossEntropy();
        shardSum();
    }

    /** Gathers rows of both tables. */
    @Benchmark
    public void embedding() {
        engine().embedding(tokens, tokenTable, positionTable, T, y);
    }

    /** Adds to rows of both tables. */
    @Benchmark
    public void embeddingBackward() {
        engine().embeddingBackward(tokens, y, T, dTokenTable, dPositionTable);
    }

    /** Losses of all rows. */
    @Benchmark
    public void crossEntropy() {
        engine().crossEntropy(logits, tokens, rowLoss, rowLogSumExp);
    }

    /** The gradient of the logits. */
    @Benchmark
    public void crossEntropyBackward() {
        engine().crossEntropyBackward(logits, tokens, rowLogSumExp, 1.0 / N, dLogits);
    }

    /** Losses, and the gradient in the place of the logits. Logits that are gradients stay finite. */
    @Benchmark
    public void crossEntropyThenBackward() {
        engine().crossEntropy(dLogits, tokens, rowLoss, rowLogSumExp);
        engine().crossEntropyBackward(dLogits, tokens, rowLogSumExp, 1.0 / N, dLogits);
    }

    /** The same in one call. */
    @Benchmark
    public void crossEntropyBoth() {
        engine().crossEntropyBoth(dLogits, tokens, 1.0 / N, rowLoss, rowLogSumExp);
    }

    /** What each row's shard has of the sum of exponentials. */
    @Benchmark
    public void shardSum() {
        engine().shardSum(rowLogSumExp, rowLogSumExp, shardSums);
    }

    /** Losses of the whole vocabulary. */
    @Benchmark
    public void joinShards() {
        engine().joinShards(tokens, shardSums, shardSums, rowLoss, rowLogSumExp);
    }
}
