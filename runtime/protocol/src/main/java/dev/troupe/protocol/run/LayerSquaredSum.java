package dev.troupe.protocol.run;

/**
 * The share of a block, the embedding or the head in the squared global gradient norm, or a part of that.
 *
 * @param block its number in the model, in the order of its pipeline
 * @param part 0 for all of it, or for its first parameters; in a block that two stages share, the number of a later
 *     parameter in the block
 * @param squaredSum sum of the squares of the gradients
 */
public record LayerSquaredSum(int block, int part, double squaredSum) {
}
