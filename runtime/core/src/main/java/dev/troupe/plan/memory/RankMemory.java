package dev.troupe.plan.memory;

import dev.troupe.layer.TensorPool;
import dev.troupe.protocol.replica.SnapshotSlots;
import java.util.Optional;

/**
 * The maximum bytes of tensors that a rank needs over the whole run.
 *
 * @param pool kept from forwards for backwards, with temporary tensors, at the place of the plan with the most
 * @param boundary incoming activations and gradients, one for each credit, and outgoing ones: the maximum of unreceived
 *     ones, or all of a pass if the run recovers
 * @param snapshots in host memory, from which a rank restarts
 * @param copies of the snapshots, in the host memory of another machine
 * @param offloaded state in files, which takes no memory
 */
public record RankMemory(int rank, long weights, long gradients, long optimizer, Activations pool, long boundary,
        long snapshots, long copies, long offloaded) {
    /**
     * The activations of a rank.
     *
     * @param free the buffers that are free between steps
     * @param fullestAt the action of a microbatch that needed the last of this memory; empty if none needed any
     */
    public record Activations(long bytes, TensorPool.Free free, Optional<String> fullestAt) {
        /** None. */
        public static final Activations NONE = new Activations(0, TensorPool.Free.NONE, Optional.empty());
    }

    public long activations() {
        return pool.bytes();
    }

    public Optional<String> fullestAt() {
        return pool.fullestAt();
    }

    public long total() {
        return weights + gradients + optimizer + activations() + boundary + snapshots + copies;
    }

    /**
     * Returns the memory with the rank's kept states, and their copies on another machine.
     *
     * @param keptBytes bytes of one snapshot
     */
    RankMemory keeping(long keptBytes, int times) {
        return new RankMemory(rank, weights, gradients, optimizer, pool, boundary, times * keptBytes,
                SnapshotSlots.COUNT * keptBytes, offloaded);
    }

    /** Returns the memory of another rank with stages of the same sizes. */
    RankMemory as(int other) {
        return new RankMemory(other, weights, gradients, optimizer, pool, boundary, snapshots, copies, offloaded);
    }

    /** Returns the part on the node that hosts the rank. */
    RankMemory atHome() {
        return new RankMemory(rank, weights, gradients, optimizer, pool, boundary, snapshots, 0, offloaded);
    }

    /** Returns the part on the node that holds the copies. */
    RankMemory elsewhere() {
        return new RankMemory(rank, 0, 0, 0, Activations.NONE, 0, 0, copies, 0);
    }
}
