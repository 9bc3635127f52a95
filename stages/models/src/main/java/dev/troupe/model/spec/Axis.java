package dev.troupe.model.spec;

/** The meaning of the indices of a parameter's dimension. A model has one size of each axis that it uses. */
public enum Axis {
    /** Tokens V. */
    VOCABULARY,
    /** Places in a sequence: the longest sequence T. */
    POSITION,
    /** Width C of the residual stream. */
    HIDDEN,
    /** Attention heads H. */
    HEADS,
    /** Queries, keys and values next to each other, each of some heads. */
    QUERY_KEY_VALUE,
    /** Attention heads with keys and values, if they are fewer. */
    KEY_VALUE_HEADS,
    /** Numbers D of a head. */
    HEAD,
    /** Keys, or values, head after head. */
    KEY_VALUE,
    /** Queries, and outputs of attention, head after head. */
    ATTENDED,
    /** Inner width of an MLP. */
    INNER,
    /** Experts of a layer. */
    EXPERTS,
    /** Inner width of an expert. */
    EXPERT_INNER,
    /** Inner width of the shared experts together. */
    SHARED_INNER,
    /** Rank r of low-rank adapters. */
    ADAPTER
}
