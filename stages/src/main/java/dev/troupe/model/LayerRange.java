package dev.troupe.model;

import dev.troupe.model.spec.ModelConfig;
import java.util.stream.IntStream;

/**
 * Consecutive layers of a model, by number: 0 is the embedding, 1 .. {@link ModelConfig#layers()} are the blocks, and the
 * one after them is the head.
 *
 * @param first
 *            the first layer
 * @param last
 *            the last layer, itself included
 */
public record LayerRange(int first, int last) {
    public LayerRange {
        if (first < 0 || last < first) {
            throw new IllegalArgumentException(
                    "a range of layers must hold at least one layer, but found " + first + " to " + last);
        }
    }

    /** How many layers there are. */
    public int size() {
        return last - first + 1;
    }

    /** Whether the layer is one of these. */
    public boolean contains(int layer) {
        return first <= layer && layer <= last;
    }

    /** The numbers in order. */
    public IntStream numbers() {
        return IntStream.rangeClosed(first, last);
    }
}
