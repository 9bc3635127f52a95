package dev.troupe.model.rotary;

/**
 * The published names of a layer with experts, of which each has tensors of its own.
 *
 * @param inside the prefix of all, in a block, such as {@code mlp.}
 * @param gate the name of an expert's matrix for the gate
 * @param up the name of the matrix of the same shape
 * @param down the name of the matrix back to the stream
 */
public record ExpertNames(String inside, String gate, String up, String down) {
    /** The names of matrices and prefix of an MLP without experts. */
    public static final ExpertNames OF_MLP = new ExpertNames("mlp.", RotaryLayers.GATE, RotaryLayers.UP,
            RotaryLayers.DOWN);
}
