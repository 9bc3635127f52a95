package dev.troupe.parallel;

/**
 * The groups of a stage's parameters by their holders: the ranks with the same weights, which add up their gradients and
 * divide their state.
 */
public enum ParameterGroup {
    /** Every data-parallel rank of the stage holds them. */
    COMMON,
    /** Experts of a rank: the data-parallel ranks with the same experts hold them. */
    EXPERTS
}
