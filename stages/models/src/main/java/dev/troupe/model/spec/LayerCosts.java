package dev.troupe.model.spec;

/**
 * Floating-point operations of a layer for one microbatch, counted as in Narayanan et al. 2021, section 5.1.
 *
 * @param products of the matrix products with weights in the forward; the same number in each backward, for the input and
 *     for the weights
 * @param attention of attention over the whole square of a sequence in the forward; twice the number in the backward for the
 *     input
 * @param lastProduct of the products for the layer's output, which no backward reads: a forward that is run again leaves
 *     them out
 */
public record LayerCosts(double products, double attention, double lastProduct) {
    /** A layer that multiplies nothing. */
    public static final LayerCosts NONE = new LayerCosts(0, 0, 0);
}
