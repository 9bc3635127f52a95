package dev.troupe.weights;

import dev.troupe.parallel.TensorSlice;

/**
 * What a rank holds of a tensor, as files have it.
 *
 * @param tensor the values, under the name of the whole
 * @param slice what of the whole they are; of the same shape
 */
public record TensorPart(NamedTensor tensor, TensorSlice slice) {
}
