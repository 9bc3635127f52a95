package dev.troupe.engine;

/**
 * Attention. The contract of every kernel is {@link Engine}'s. Letters: B microbatch size, T sequence length, N = B T rows,
 * C hidden size, H heads of D numbers, K heads with keys and values, each shared by H/K neighbours among the heads.
 *
 * <p>A sequence may hold several documents, one after another, which do not attend to each other. {@code starts}, INT32 [N],
 * is for each row the place in its sequence at which its document begins; null if every sequence is one document.
 *
 * <p>Rows that are not whole sequences, a size that is no multiple of the heads, and a start after its row raise
 * {@link IllegalArgumentException} before anything is written.
 */
public interface AttentionKernels {
    /** The shape of the state that the forward of attention keeps for the backward. */
    Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads);

    /**
     * Causal attention of all heads (Vaswani et al. 2017) with scale {@code 1 / sqrt(C / H)}.
     *
     * @param qkv [N x 3C]: queries, keys, values next to each other; head h has columns h C/H .. (h+1) C/H of each
     * @param state of {@link #attentionStateShape}, written here and read by the backward
     * @param y [N x C], heads next to each other
     */
    default void causalAttention(Tensor qkv, int sequenceLength, int heads, Tensor state, Tensor y) {
        causalAttention(qkv, sequenceLength, heads, Dropout.NONE, state, y);
    }

    /**
     * As the other {@code causalAttention}, with dropout of the probabilities.
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

    /**
     * Causal attention with scale {@code 1 / sqrt(D)} of H heads; neighbouring heads share keys and values (Ainslie et al.
     * 2023). A document attends only to itself.
     *
     * @param queries [N x H D]
     * @param keys [N x K D]
     * @param values [N x K D]
     * @param state of {@link #attentionStateShape} with H heads, written here and read by the backward
     * @param y [N x H D]
     */
    void groupedAttention(Tensor queries, Tensor keys, Tensor values, Tensor starts, int sequenceLength, int heads,
            int keyValueHeads, Dropout dropout, Tensor state, Tensor y);

    /** The gradients for queries, keys and values of {@link #groupedAttention} with the same dropout, of the same shapes. */
    void groupedAttentionBackward(Tensor dy, Tensor queries, Tensor keys, Tensor values, Tensor starts, Tensor y,
            Tensor state, int sequenceLength, int heads, int keyValueHeads, Dropout dropout, Tensor dQueries,
            Tensor dKeys, Tensor dValues);

    /**
     * The last R rows of {@link #groupedAttention}, for generation: each query attends to the keys and values of all places
     * up to its own.
     *
     * @param queries [R x H D], of the last R places
     * @param keys [at least P x K D]
     * @param values as {@code keys}
     * @param length P, the number of places, at least R; further rows are not read
     * @param y [R x H D]
     */
    void cachedAttention(Tensor queries, Tensor keys, Tensor values, int length, int heads, int keyValueHeads,
            Tensor y);

    /**
     * Rotates the first d numbers of each head by the angles of its place in its document (Su et al. 2021): number i of
     * their first half and number i of their second half are one pair. The other numbers of a head stay as they are.
     *
     * @param x [N x G D], G heads
     * @param cosines [at least T x d/2], a row for each place in a document
     * @param sines as {@code cosines}
     * @param headSize D, at least d
     * @param back whether to rotate the other way, which is the backward
     * @param y as x; may be x
     */
    void rotary(Tensor x, Tensor starts, int sequenceLength, Tensor cosines, Tensor sines, int headSize, boolean back,
            Tensor y);
}
