package dev.troupe.batch;

/** The order of sequences in training. */
public enum Order {
    /** Consecutive windows from the beginning; after the last whole one it starts again. */
    SEQUENTIAL,
    /** Windows that begin anywhere, drawn from a seed with replacement. */
    RANDOM,
    /** The windows of {@link #SEQUENTIAL}, each once in every epoch of the data, in an order drawn anew for each. */
    EPOCHS
}
