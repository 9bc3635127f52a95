package dev.troupe.model;

/**
 * What one layer adds to the global gradient norm.
 *
 * @param layer
 *            the layer's number in the model
 * @param squaredSum
 *            sum of the squares of its gradients
 */
public record LayerSquaredSum(int layer, double squaredSum) {
}
