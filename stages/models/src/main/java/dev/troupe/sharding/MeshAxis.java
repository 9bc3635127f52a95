package dev.troupe.sharding;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** An axis of the mesh of ranks that share a place of the pipeline. */
public enum MeshAxis {
    /** The ranks that divide the computation of a stage: {@code parallel.tensor}. */
    TENSOR,
    /** The ranks with other microbatches and the same weights: {@code parallel.data}. */
    DATA,
    /** The data-parallel ranks that divide experts: {@code parallel.expert}. */
    EXPERT;

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the end of a type in a plan: nothing for the axis that is meant if none is named. */
    String suffix() {
        return this == TENSOR ? "" : " on " + word();
    }

    static Optional<MeshAxis> of(String word) {
        return Arrays.stream(values()).filter(axis -> axis.word().equals(word)).findFirst();
    }
}
