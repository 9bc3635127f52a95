package dev.troupe.plan.memory;

import dev.troupe.protocol.replica.SnapshotSlots;
import java.util.Optional;

/**
 * The maximum bytes of tensors that a rank needs over the whole run.
 *
 * @param activations kept from forwards for backwards, with temporary tensors, at the place of the plan with the most
 * @param boundary incoming activations and gradients, one for each credit, and outgoing ones: the maximum of unreceived
 *     ones, or all of a pass if the run recovers
 * @param snapshots in host memory, from which a rank restarts
 * @param copies of the snapshots, in the host memory of another machine
 * @param fullestAt the action of a microbatch that needed the last of this memory; empty if none needed any
 */
public record RankMemory(int rank, long weights, long gradients, long optimizer, long activations, long boundary,
        long snapshots, long copies, Optional<String> fullestAt) {
    public long total() {
        return weights + gradients + optimizer + activations + boundary + snapshots + copies;
    }

    /**
     * Returns the memory with the rank's kept states, and their copies on another machine.
     *
     * @param keptBytes bytes of one snapshot
     */
    RankMemory keeping(long keptBytes, int times) {
        return new RankMemory(rank, weights, gradients, optimizer, activations, boundary, times * keptBytes,
                SnapshotSlots.COUNT * keptBytes, fullestAt);
    }

    /** Returns the memory of another rank with stages of the same sizes. */
    RankMemory as(int other) {
        return new RankMemory(other, weights, gradients, optimizer, activations, boundary, snapshots, copies,
                fullestAt);
    }

    /** Returns the part on the node that hosts the rank. */
    RankMemory atHome() {
        return new RankMemory(rank, weights, gradients, optimizer, activations, boundary, snapshots, 0, fullestAt);
    }

    /** Returns the part on the node that holds the copies. */
    RankMemory elsewhere() {
        return new RankMemory(rank, 0, 0, 0, 0, 0, 0, copies, Optional.empty());
    }
}
