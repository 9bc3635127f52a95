package dev.troupe.protocol.run;

/**
 * The sum of squared gradients of a block, the embedding or the head, or of a part of one. The squared global norm is the
 * sum of all.
 *
 * @param block its number in the model, in the order of the pipeline
 * @param part 0 for the whole block or its first parameters; in a block that two stages share, the number of a later
 *     parameter in the block
 * @param replica the replica with gradients of its own; 0 if there is one
 */
public record LayerSquaredSum(int block, int part, double squaredSum, int replica) {
    /** Creates the sum of the only replica. */
    public LayerSquaredSum(int block, int part, double squaredSum) {
        this(block, part, squaredSum, 0);
    }
}
