package dev.troupe.model.spec;

/**
 * Floating-point operations of a layer for one microbatch, as Narayanan et al. 2021, section 5.1, counts them.
 *
 * @param products of the matrix products with weights in the forward; the backwards for the input and for the weights
 *     have as many each
 * @param attention of attention over the whole square of a sequence in the forward; the backward for the input has
 *     twice as many
 * @param lastProduct of the products, those that give the layer's output and nothing that a backward reads: a forward
 *     that is run again leaves them out
 */
public record LayerCosts(double products, double attention, double lastProduct) {
    /** A layer that multiplies nothing. */
    public static final LayerCosts NONE = new LayerCosts(0, 0, 0);
}
