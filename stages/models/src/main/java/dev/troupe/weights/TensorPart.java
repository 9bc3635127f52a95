package dev.troupe.weights;

import dev.troupe.parallel.TensorSlice;

/**
 * A rank's part of a tensor, in the form of files.
 *
 * @param tensor the values, under the name of the whole
 * @param slice their place in the whole; of the same shape
 */
public record TensorPart(NamedTensor tensor, TensorSlice slice) {
}
