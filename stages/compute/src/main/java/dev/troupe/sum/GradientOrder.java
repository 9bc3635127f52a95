package dev.troupe.sum;

/** The rule by which gradients are added over the microbatches of a step and over the ranks with the same weights. */
public enum GradientOrder {
    /** Each rank adds its microbatches in the order of its row; then the sums of the ranks are added in their order. */
    RANKS,
    /** The same, but each rank rounds its sum to bfloat16 first. */
    ROUNDED_RANKS,
    /**
     * One balanced binary tree over all microbatches of the step, whichever ranks they belong to. So the number of
     * data-parallel ranks, of ranks that divide experts, and the level of ZeRO change no bit.
     */
    TREE
}
