package dev.troupe.model.spec;

/** What the indices of a parameter's dimension count. A model has one size of each axis that it uses. */
public enum Axis {
    /** Tokens V. */
    VOCABULARY,
    /** Places in a sequence: the longest sequence T. */
    POSITION,
    /** Width C of the residual stream. */
    HIDDEN,
    /** Attention heads H. */
    HEADS,
    /** Queries, keys and values side by side, each of some heads. */
    QUERY_KEY_VALUE,
    /** What attention gives, head after head. */
    ATTENDED,
    /** Inner width of an MLP. */
    INNER
}
