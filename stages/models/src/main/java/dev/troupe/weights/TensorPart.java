package dev.troupe.weights;

import dev.troupe.parallel.TensorSlice;

/**
 * A rank's part of a tensor, in the layout that checkpoints and exports have.
 *
 * @param tensor the values of the part, with the name of the whole tensor
 * @param slice the place of the part in the whole tensor; it has the shape of the values
 */
public record TensorPart(NamedTensor tensor, TensorSlice slice) {
}
