package dev.troupe.config.group;

/**
 * The kinds of process groups, as in Megatron-LM ({@code parallel_state.py}; Narayanan et al. 2021). Every rank is in one
 * group of each kind; only the ranks at the ends of a pipeline are in groups of the last two.
 */
public enum GroupKind {
    /** The ranks that share a stage: same pipeline and data. */
    TENSOR("tensor"),
    /** The ranks of a pipeline, first to last: same data and tensor. */
    PIPELINE("pipeline"),
    /** The ranks that hold the same weights: same pipeline and tensor. */
    DATA("data"),
    /** The consecutive data ranks of a stage that hold each expert once; one rank unless they divide the experts. */
    EXPERT("expert"),
    /** The ranks that hold the same experts of a stage: the same as {@link #DATA} unless they divide the experts. */
    EXPERT_DATA("expert-data"),
    /** The ranks that hold one copy of the model: same data. */
    MODEL("model"),
    /** The two ends of a pipeline, which share the tied token embedding; one rank if the pipeline has one. */
    EMBEDDING("embedding"),
    /** The first rank of a pipeline, which alone has the position embedding. */
    POSITION_EMBEDDING("position-embedding");

    private final String word;

    GroupKind(String word) {
        this.word = word;
    }

    /** Returns the kind as a report prints it. */
    public String word() {
        return word;
    }
}
