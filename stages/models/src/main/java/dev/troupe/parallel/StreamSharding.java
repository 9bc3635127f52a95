package dev.troupe.parallel;

import java.util.Set;

/**
 * The division of a model's layers among tensor-parallel ranks, as layers execute it. Immutable.
 *
 * @param cutsRows whether each rank has some rows of the residual stream (sequence parallelism, Korthikanti et al. 2022)
 * @param wholeLayers the numbers of the layers that each rank computes whole; all others are divided
 */
public record StreamSharding(boolean cutsRows, Set<Integer> wholeLayers) {
    public StreamSharding {
        wholeLayers = Set.copyOf(wholeLayers);
    }

    /** Returns the division of every layer. */
    public static StreamSharding of(boolean cutsRows) {
        return new StreamSharding(cutsRows, Set.of());
    }

    public boolean isWhole(int layer) {
        return wholeLayers.contains(layer);
    }
}
