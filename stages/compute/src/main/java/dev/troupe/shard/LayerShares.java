package dev.troupe.shard;

import dev.troupe.engine.Tensor;
import dev.troupe.sum.MicrobatchTree;
import java.util.List;

/**
 * The exchange before and after a layer's work if several ranks hold its weights. With ZeRO-3 a layer's weights are gathered
 * while they are read. With ZeRO-2 or 3 its gradients are added to the shares right after its backward. With fewer shares
 * each rank keeps all gradients, and sums them over the ranks when they are final. If one tree adds the microbatches of a
 * step, each layer has one.
 *
 * <p>Layers are counted from the stage's first. Thread rule: the stage's thread.
 */
public final class LayerShares {
    // Null if ranks do not divide the weights.
    private final LayerWeights weights;
    private final LayerGradients gradients;
    private final GradientBuckets buckets;
    /** Of each layer with whole gradients; empty if the gradients of microbatches add up in place, or in the shares. */
    private final List<MicrobatchTree> trees;
    /** The first layer that reads weights in its backward. */
    private final int firstReadBackwards;

    /**
     * @param readsBackwards whether the first layer reads its weights in its backward, as all others do
     */
    LayerShares(LayerWeights weights, LayerGradients gradients, GradientBuckets buckets, List<MicrobatchTree> trees,
            boolean readsBackwards) {
        this.weights = weights;
        this.gradients = gradients;
        this.buckets = buckets;
        this.trees = List.copyOf(trees);
        this.firstReadBackwards = readsBackwards ? 0 : 1;
    }

    /** Begins a step, before the first layer's forward. */
    void beginStep() {
        if (weights != null) {
            weights.follows(0);
        }
    }

    /** Ends a step; no layer reads its weights after this. */
    void endStep() {
        if (weights != null) {
            weights.letGo();
        }
    }

    /** Begins a layer's forward, which the next layer's follows. */
    public void beginForward(int layer) {
        if (weights != null) {
            weights.use(layer, layer + 1);
        }
    }

    public void endForward(int layer) {
        if (weights != null) {
            weights.letGo(layer);
        }
    }

    /**
     * Begins a layer's backward, or its replay.
     *
     * @param next the next layer that reads its weights; a negative number for none
     */
    public void beginBackward(int layer, int next) {
        if (weights != null && layer >= firstReadBackwards) {
            weights.use(layer, next >= firstReadBackwards ? next : -1);
        }
    }

    public void endBackward(int layer) {
        if (weights != null && layer >= firstReadBackwards) {
            weights.letGo(layer);
        }
    }

    /** Sums the gradients of a layer over the ranks, after its backward for the weights. */
    public void addUp(int layer) {
        if (weights != null) {
            weights.settle();
        }
        if (gradients != null) {
            gradients.addUp(layer);
        }
        if (!trees.isEmpty() && !trees.get(layer).add()) {
            trees.get(layer).zero();
        }
        if (buckets != null) {
            buckets.layerDone(layer);
        }
    }

    /**
     * If one tree adds gradients, sums a tied table over the ranks before its ends are added: only so does the sum not
     * depend on the ranks. Once a step.
     *
     * @param secondUses the gradients of a second use on this stage
     */
    public void addUpShared(List<Tensor> secondUses) {
        if (buckets != null && addsInTree()) {
            buckets.addUpShared(secondUses);
        }
    }

    /** Returns whether one tree adds whole gradients. */
    boolean addsInTree() {
        return !trees.isEmpty();
    }
}
