package dev.troupe.batch;

/** The order in which training goes through a text. */
public enum Order {
    /** Window after window from the beginning; past the last whole one it begins again. */
    SEQUENTIAL,
    /** Windows that begin anywhere, drawn from a seed with replacement. */
    RANDOM,
    /** The windows of {@link #SEQUENTIAL}, each once in every epoch of the data, in an order drawn anew for each. */
    EPOCHS
}
