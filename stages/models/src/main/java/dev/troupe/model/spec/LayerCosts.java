package dev.troupe.model.spec;

/**
 * Floating-point operations of a layer for one microbatch, counted as in Narayanan et al. 2021, section 5.1.
 *
 * @param products of the matrix products with weights in the forward, and of the same number in each of the two backwards
 * @param attention of attention in the forward, without the saving of a causal mask; the backward for the input has twice
 *     the number
 * @param lastProduct of the products for the layer's output, which no backward reads, so that a replay omits them
 */
public record LayerCosts(double products, double attention, double lastProduct) {
    /** A layer without products. */
    public static final LayerCosts NONE = new LayerCosts(0, 0, 0);
}
