package dev.troupe.protocol.run;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** The norm of all gradients of the model, and the factor by which they are clipped. */
public final class GlobalNorm {
    // As torch.nn.utils.clip_grad_norm_ adds it, so that a norm of zero can be a divisor.
    private static final double EPSILON = 1e-6;

    private GlobalNorm() {
    }

    /**
     * Returns the norm over all layers. Sums are added in the order of blocks, and within a block in the order of its
     * parameters, so the bits do not depend on the partition.
     *
     * @param sums of every block of the model, in any order
     * @throws IllegalArgumentException if a block is missing or a part occurs twice
     */
    public static double of(Collection<LayerSquaredSum> sums) {
        return of(sums, true);
    }

    /** Returns the same norm over the blocks that are present, which are on stages that update their weights. */
    static double ofSome(Collection<LayerSquaredSum> sums) {
        return of(sums, false);
    }

    private static double of(Collection<LayerSquaredSum> sums, boolean areAll) {
        List<LayerSquaredSum> ordered = sums.stream()
                .sorted(Comparator.comparingInt(LayerSquaredSum::block).thenComparingInt(LayerSquaredSum::part))
                .toList();
        double total = 0;
        double ofBlock = 0;
        int block = -1;
        int part = 0;
        for (LayerSquaredSum sum : ordered) {
            boolean continues = sum.block() == block && sum.part() > part;
            boolean isRight = areAll
                    ? continues || sum.block() == block + 1 && sum.part() == 0
                    : continues || sum.block() > block;
            if (!isRight) {
                throw new IllegalArgumentException("the gradient norm needs each block once, but found " + ordered);
            }
            if (!continues) {
                total += ofBlock;
                ofBlock = 0;
            }
            ofBlock += sum.squaredSum();
            block = sum.block();
            part = sum.part();
        }
        return Math.sqrt(total + ofBlock);
    }

    /**
     * Returns the factor that limits the norm of gradients to {@code maximum}, exactly as
     * {@code torch.nn.utils.clip_grad_norm_} computes it: {@code maximum / (norm + 1e-6)}, at most 1.
     *
     * @param norm the norm of all gradients; NaN gives NaN
     * @param maximum the bound; 0 for no clipping
     */
    public static double clipCoefficient(double norm, double maximum) {
        return maximum == 0 ? 1 : Math.min(1, maximum / (norm + EPSILON));
    }
}
