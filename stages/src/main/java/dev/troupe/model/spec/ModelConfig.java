package dev.troupe.model.spec;

/**
 * The shape of a GPT-2 model (Radford et al. 2019).
 *
 * @param layers
 *            transformer blocks
 * @param hidden
 *            width C of the residual stream; divides by {@code heads}
 * @param heads
 *            attention heads H
 * @param sequenceLength
 *            longest sequence T: rows of the position table
 * @param vocabularySize
 *            tokens V
 * @param tiedEmbeddings
 *            whether the head's matrix is the token table
 * @param normEpsilon
 *            epsilon of every layer norm
 */
public record ModelConfig(int layers, int hidden, int heads, int sequenceLength, int vocabularySize,
        boolean tiedEmbeddings, double normEpsilon) {
    /** GPT-2's epsilon. */
    public static final double NORM_EPSILON = 1e-5;

    public ModelConfig {
        if (layers < 1 || hidden < 1 || heads < 1 || sequenceLength < 1 || vocabularySize < 1) {
            throw new IllegalArgumentException("layers, hidden, heads, sequence length and vocabulary size of a model"
                    + " must each be at least 1, but found " + layers + ", " + hidden + ", " + heads + ", "
                    + sequenceLength + " and " + vocabularySize);
        }
        if (hidden % heads != 0) {
            throw new IllegalArgumentException(
                    "hidden size " + hidden + " does not divide by " + heads + " heads: change one of them");
        }
    }

    /** Layers of the model: the embedding (number 0), the blocks (1 to {@code layers}) and the head (the last). */
    public int layerCount() {
        return layers + 2;
    }

    /**
     * Numbers that a layer is trained by. A tied head counts the token table, since it has a copy of it unless it shares
     * a stage with the embedding.
     *
     * @param layer
     *            0 .. {@link #layerCount()} - 1
     */
    public long parameterCount(int layer) {
        long width = hidden;
        if (layer == 0) {
            return (vocabularySize + (long) sequenceLength) * width;
        }
        if (layer == layerCount() - 1) {
            return 2 * width + vocabularySize * width;
        }
        return 12 * width * width + 13 * width;
    }
}
