package dev.troupe.memory;

import dev.troupe.protocol.replica.SnapshotSlots;

/**
 * The bytes of tensors that a rank takes at most, over the whole run.
 *
 * @param rank which rank
 * @param weights of its stages
 * @param gradients of its weights
 * @param optimizer what the optimizer remembers
 * @param activations what is kept from forwards for backwards at the worst place of the plan, and what is passing
 * @param boundary activations and gradients that come in, as many as there are credits, and that wait to go out, as
 *     many as can be unreceived at one time, or if the run recovers from failures, as many as a pass sends
 * @param snapshots in host memory, what a rank starts again from
 * @param copies of those, in the host memory of another machine
 */
public record RankMemory(int rank, long weights, long gradients, long optimizer, long activations, long boundary,
        long snapshots, long copies) {
    /** All of it. */
    public long total() {
        return weights + gradients + optimizer + activations + boundary + snapshots + copies;
    }

    /**
     * As a rank takes that keeps its state, with copies on another machine.
     *
     * @param keptBytes of one snapshot
     * @param times how often
     */
    RankMemory keeping(long keptBytes, int times) {
        return new RankMemory(rank, weights, gradients, optimizer, activations, boundary, times * keptBytes,
                SnapshotSlots.COUNT * keptBytes);
    }

    /** The memory of another rank whose stages have the same sizes. */
    RankMemory as(int other) {
        return new RankMemory(other, weights, gradients, optimizer, activations, boundary, snapshots, copies);
    }

    /** The part of it on the node that has the rank. */
    RankMemory atHome() {
        return new RankMemory(rank, weights, gradients, optimizer, activations, boundary, snapshots, 0);
    }

    /** The part of it on the node that has the copies. */
    RankMemory elsewhere() {
        return new RankMemory(rank, 0, 0, 0, 0, 0, 0, copies);
    }
}
