package dev.troupe.model;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** The norm of all gradients of the model, and how they are clipped by it. */
public final class GlobalNorm {
    // What torch.nn.utils.clip_grad_norm_ adds, so that a norm of zero divides.
    private static final double EPSILON = 1e-6;

    private GlobalNorm() {
    }

    /**
     * The norm over layers, whichever stage each is on: sums are added in the order of the layers, so that the result is
     * the same bits under every partition.
     *
     * @param sums
     *            one for each layer of the model, in any order
     * @throws IllegalArgumentException
     *             where a layer is missing or there twice
     */
    public static double of(Collection<LayerSquaredSum> sums) {
        List<LayerSquaredSum> ordered = sums.stream().sorted(Comparator.comparingInt(LayerSquaredSum::layer)).toList();
        double total = 0;
        for (int layer = 0; layer < ordered.size(); layer++) {
            if (ordered.get(layer).layer() != layer) {
                throw new IllegalArgumentException("the gradient norm needs each layer once, but found layers "
                        + ordered.stream().map(sum -> Integer.toString(sum.layer())).toList());
            }
            total += ordered.get(layer).squaredSum();
        }
        return Math.sqrt(total);
    }

    /**
     * What gradients are multiplied by so that their norm is at most {@code maximum}, exactly as
     * {@code torch.nn.utils.clip_grad_norm_} computes it: {@code maximum / (norm + 1e-6)}, at most 1.
     *
     * @param norm
     *            the norm of all gradients; NaN gives NaN
     * @param maximum
     *            the bound; 0 for no clipping
     */
    public static double clipCoefficient(double norm, double maximum) {
        return maximum == 0 ? 1 : Math.min(1, maximum / (norm + EPSILON));
    }
}
