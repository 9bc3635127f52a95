package dev.troupe.shard;

/**
 * The exchange before and after a layer's work if several ranks hold its weights. If the ranks share out gradients, or
 * weights too, a layer's weights are gathered while they are read, and its gradients are added to the shares as soon as the
 * backward has written them. If each rank keeps all gradients, the sum over the ranks begins with the gradients that are
 * final. If one rank has the layer alone, nothing is exchanged.
 *
 * <p>Layers are counted from the stage's first. Thread rule: the stage's thread.
 */
public final class LayerShares {
    // Null if they are not shared out.
    private final LayerWeights weights;
    private final LayerGradients gradients;
    private final GradientBuckets buckets;
    /** The first layer with a backward that reads weights. */
    private final int firstReadBackwards;

    /**
     * @param readsBackwards whether the first layer reads its weights in its backward, as all others do
     */
    LayerShares(LayerWeights weights, LayerGradients gradients, GradientBuckets buckets, boolean readsBackwards) {
        this.weights = weights;
        this.gradients = gradients;
        this.buckets = buckets;
        this.firstReadBackwards = readsBackwards ? 0 : 1;
    }

    /** Begins a step with the first layer's forward. */
    void beginStep() {
        if (weights != null) {
            weights.follows(0);
        }
    }

    /** Ends a step: no layer reads its weights any more. */
    void endStep() {
        if (weights != null) {
            weights.letGo();
        }
    }

    /** Begins a layer's forward, after which the next layer's follows. */
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
     * @param next the layer that reads its weights next; a negative number for none
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

    /** Adds up the gradients to which a layer's backward for the weights has added. */
    public void addUp(int layer) {
        if (weights != null) {
            weights.settle();
        }
        if (gradients != null) {
            gradients.addUp(layer);
        }
        if (buckets != null) {
            buckets.layerDone(layer);
        }
    }
}
