package dev.troupe.engine;

/**
 * Attention. The contract of every kernel is {@link Engine}'s. Letters: B microbatch size, T sequence length, N = B T
 * rows, C hidden size, H heads.
 *
 * <p>Rows that are not whole sequences, and a hidden size that is no multiple of the heads, raise
 * {@link IllegalArgumentException} before anything is written.
 */
public interface AttentionKernels {
    /** The shape of what this engine keeps between the forward and the backward of attention. */
    Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads);

    /**
     * Causal attention of all heads (Vaswani et al. 2017) with scale {@code 1 / sqrt(C / H)}.
     *
     * @param qkv
     *            [N x 3C]: queries, keys, values side by side; head h has columns h C/H .. (h+1) C/H of each
     * @param state
     *            of {@link #attentionStateShape}, written here and read by the backward
     * @param y
     *            [N x C], heads side by side
     */
    default void causalAttention(Tensor qkv, int sequenceLength, int heads, Tensor state, Tensor y) {
        causalAttention(qkv, sequenceLength, heads, Dropout.NONE, state, y);
    }

    /**
     * As the other {@code causalAttention}, with dropout on the probabilities.
     *
     * @param dropout
     *            what goes of the probabilities
     */
    void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y);

    /** The gradient for qkv of {@link #causalAttention}: dy and y [N x C], dQkv [N x 3C]. */
    default void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Tensor dQkv) {
        causalAttentionBackward(dy, qkv, y, state, sequenceLength, heads, Dropout.NONE, dQkv);
    }

    /** The gradient for qkv of {@link #causalAttention} with the same dropout. */
    void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv);
}
