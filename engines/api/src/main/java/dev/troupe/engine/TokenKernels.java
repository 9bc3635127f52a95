package dev.troupe.engine;

/**
 * Kernels that read token ids: the embedding, and the loss against targets. The contract of every kernel is
 * {@link Engine}'s. Letters: B microbatch size, T sequence length, N = B T rows, C hidden size, V vocabulary size.
 *
 * <p>Rows that are not whole sequences, and an id that is neither a row of the table nor {@link #NOT_IN_SHARD}, nor as a
 * target {@link #NOT_COUNTED}, raise {@link IllegalArgumentException} before anything is written.
 */
public interface TokenKernels {
    /** An id that is no row of a table here: another rank has the row, in its shard of the vocabulary. */
    int NOT_IN_SHARD = -1;
    /** A target that does not count: the row has no loss and no gradient. */
    int NOT_COUNTED = -2;

    /**
     * {@code y[n] = tokenTable[tokens[n]] + positionTable[n mod T]}: tokens INT32 [N], tokenTable [V x C], positionTable
     * [at least T x C], y [N x C]. The row of a token {@link #NOT_IN_SHARD}
     * is taken as zeros, and so are all positions where positionTable is null.
     */
    void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y);

    /** Adds dy [N x C] to the rows that {@link #embedding} read, in the order of n; without positions these are null. */
    void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable, Tensor dPositionTable);

    /**
     * Softmax cross-entropy of each row: logits [N x V], targets INT32 [N]; writes each row's loss and the logarithm of
     * its sum of exponentials, [N] each. The loss of a row whose target is {@link #NOT_IN_SHARD} or {@link #NOT_COUNTED}
     * is 0.
     */
    void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp);

    /**
     * {@code dLogits = scale (exp(logits - rowLogSumExp) - onehot(targets))}, where nothing is one for a target
     * {@link #NOT_IN_SHARD}, and 0 for a target {@link #NOT_COUNTED}; {@code dLogits} may be {@code logits}.
     */
    void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits);

    /**
     * {@link #crossEntropy} and {@link #crossEntropyBackward} at once, of a whole vocabulary whose logits nothing else
     * reads: rowLoss and rowLogSumExp, [N] each, and in the place of the logits [N x V] their gradient, to the bit what
     * those two leave.
     */
    default void crossEntropyBoth(Tensor logits, Tensor targets, double scale, Tensor rowLoss, Tensor rowLogSumExp) {
        crossEntropy(logits, targets, rowLoss, rowLogSumExp);
        crossEntropyBackward(logits, targets, rowLogSumExp, scale, logits);
    }

    /**
     * What a shard of the vocabulary has of the sum of exponentials of the whole, which is scaled so that no exponential
     * overflows: {@code sums[n] = exp(rowLogSumExp[n] - highest[n])}, all float tensors [N], where highest is the largest
     * rowLogSumExp of any shard (Shoeybi et al. 2019, section 3).
     */
    void shardSum(Tensor rowLogSumExp, Tensor highest, Tensor sums);

    /**
     * From a shard of the vocabulary to the whole: with {@code whole[n] = highest[n] + log(sums[n])}, where sums are added
     * up over the shards, {@code rowLoss[n] += whole[n] - rowLogSumExp[n]} for a target in this shard, and then
     * {@code rowLogSumExp = whole}. Targets are INT32 [N], in this shard where they are not negative; all others are float
     * tensors [N].
     */
    void joinShards(Tensor targets, Tensor highest, Tensor sums, Tensor rowLoss, Tensor rowLogSumExp);
}
