package dev.troupe.layer;

import dev.troupe.engine.Dropout;

/**
 * The heads of an attention that a rank computes, and their state: of t ranks that share the stage each has H/t of the H
 * heads, side by side.
 */
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
     * @param block the block's number in the model, for what drops out
     * @param heads H
     * @param attended the output of the rank's heads
     */
    public AttentionHeads(LayerContext context, int block, int heads, TensorPool.Extent attended) {
        this.block = block;
        all = heads;
        own = context.own(heads);
        first = context.share().group().rank() * own;
        state = context.attentionState(own);
        // True of an engine that keeps all probabilities, T numbers a row and head. One that keeps a number a row and head
        // makes them again in its backward anyway.
        areRecomputed = state.whole().elementCount() > attended.whole().elementCount();
    }

    /** Heads of the rank, H/t. */
    public int own() {
        return own;
    }

    /** The state that the engine keeps of attention for its backward. */
    public TensorPool.Extent state() {
        return state;
    }

    /** Whether state and output are computed again where memory is short: whether the state is the larger of them. */
    public boolean areRecomputed() {
        return areRecomputed;
    }

    /** The dropout of the probabilities of the rank's heads. */
    public Dropout dropout(MicrobatchContext microbatch) {
        return microbatch.dropoutKey().ofHeads(block, all, first);
    }
}
