package dev.troupe.engine;

/**
 * Kernels that read token ids: the embedding, and the loss against targets. The contract of every kernel is
 * {@link Engine}'s. Letters: B microbatch size, T sequence length, N = B T rows, C hidden size, V vocabulary size.
 *
 * <p>Rows that are not whole sequences, and invalid ids raise {@link IllegalArgumentException} before anything is written. A
 * valid id is a row of the table, {@link #NOT_IN_SHARD}, or for targets {@link #NOT_COUNTED}.
 */
public interface TokenKernels {
    /** An id without a row in the table: another rank has the row, in its shard of the vocabulary. */
    int NOT_IN_SHARD = -1;
    /** A target that does not count: the row has no loss and no gradient. */
    int NOT_COUNTED = -2;

    /**
     * {@code y[n] = tokenTable[tokens[n]] + positionTable[n mod T]}: tokens INT32 [N], tokenTable [V x C], positionTable
     * [at least T x C], y [N x C]. The row of a token {@link #NOT_IN_SHARD} is zero, and so are all positions if
     * positionTable is null.
     */
    void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y);

    /** Adds dy [N x C] to the rows that {@link #embedding} read, in the order of n; without positions these are null. */
    void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable, Tensor dPositionTable);

    /**
     * Softmax cross-entropy of each row: logits [N x V], targets INT32 [N]; writes each row's loss and the logarithm of
     * its sum of exponentials, [N] each. The loss of a target {@link #NOT_IN_SHARD} or {@link #NOT_COUNTED} is 0.
     */
    void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp);

    /**
     * {@code dLogits = scale (exp(logits - rowLogSumExp) - onehot(targets))}. For a target {@link #NOT_IN_SHARD} onehot is
     * 0, and for a target {@link #NOT_COUNTED} the gradient is 0; {@code dLogits} may be {@code logits}.
     */
    void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits);

    /**
     * {@link #crossEntropy}, then {@link #crossEntropyBackward} in place, with the bits of these two. For a whole
     * vocabulary: rowLoss and rowLogSumExp, [N] each, and the gradient in the place of the logits [N x V].
     */
    void crossEntropyBoth(Tensor logits, Tensor targets, double scale, Tensor rowLoss, Tensor rowLogSumExp);

    /**
     * The part of one vocabulary shard in the sum of exponentials, scaled so that none overflows:
     * {@code sums[n] = exp(rowLogSumExp[n] - highest[n])}. All are float tensors [N]; highest is the largest rowLogSumExp of
     * all shards (Shoeybi et al. 2019, section 3).
     */
    void shardSum(Tensor rowLogSumExp, Tensor highest, Tensor sums);

    /**
     * Corrects the losses of a shard of the vocabulary for the whole vocabulary. With sums added up over the shards and
     * {@code whole[n] = highest[n] + log(sums[n])}: {@code rowLoss[n] += whole[n] - rowLogSumExp[n]} for a target in this
     * shard, and then {@code rowLogSumExp = whole}. Targets are INT32 [N], negative if not in this shard; all others are
     * float tensors [N].
     */
    void joinShards(Tensor targets, Tensor highest, Tensor sums, Tensor rowLoss, Tensor rowLogSumExp);
}
