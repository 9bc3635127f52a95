package dev.troupe.layer;

import dev.troupe.engine.Dropout;

/** The attention heads of a rank, and their state: each of the t ranks of a group has H/t consecutive heads of the H. */
public final class AttentionHeads {
    private final int block;
    private final int all;
    private final int own;
    private final int first;
    private final TensorPool.Extent state;
    private final boolean areRecomputed;

    /**
     * Takes the rank's share of the heads.
     *
     * @param block the block's number in the model, for dropout
     * @param heads H
     * @param attended the output of the rank's heads
     */
    public AttentionHeads(LayerContext context, int block, int heads, TensorPool.Extent attended) {
        this.block = block;
        all = heads;
        own = context.own(heads);
        first = context.group().rank() * own;
        state = context.attentionState(own);
        // True for an engine that keeps all probabilities, T numbers a row and head. Other engines compute them again in
        // their backward anyway.
        areRecomputed = state.whole().elementCount() > attended.whole().elementCount();
    }

    /** Returns the heads of the rank, H/t. */
    public int own() {
        return own;
    }

    /** Returns the state that the engine keeps of attention for its backward. */
    public TensorPool.Extent state() {
        return state;
    }

    /** Returns whether state and output are computed again to save memory: true if the state is larger than the output. */
    public boolean areRecomputed() {
        return areRecomputed;
    }

    public Dropout dropout(MicrobatchContext microbatch) {
        return microbatch.dropoutKey().ofHeads(block, all, first);
    }
}
