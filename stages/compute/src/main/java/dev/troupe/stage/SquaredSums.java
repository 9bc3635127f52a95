package dev.troupe.stage;

import dev.troupe.model.ModelSpec;

/** The receiver of a stage's shares of the squared global gradient norm. */
@FunctionalInterface
public interface SquaredSums {
    /**
     * Adds the sum of a block, the embedding or the head, or of a part of it.
     *
     * @param block its number in the model, {@link ModelSpec#blockNumber}
     * @param part 0 for the whole block or its first part; if two stages share the block, the index of a parameter of the
     *     second part
     */
    void add(int block, int part, double squaredSum);
}
