package dev.troupe.actor;

import dev.troupe.snapshot.SnapshotCopies;
import java.util.List;
import java.util.Optional;

/**
 * Where copies of what the ranks of a node keep go, and who hears what comes from other nodes. Thread rule: any thread.
 */
public final class CopyRoutes implements SnapshotCopies.Listener {
    private static final int NOWHERE = -1;

    private volatile Optional<SnapshotCopies> copies = Optional.empty();
    // For each rank the index of the node that keeps its copies.
    private volatile List<Integer> keepers = List.of();
    private volatile SnapshotCopies.Listener hearer = (_, _, _) -> {
    };

    /** What carries them; without, nothing is copied. */
    public void over(SnapshotCopies carrier) {
        copies = Optional.of(carrier);
    }

    /** From now on this one hears what comes, on the thread that copies. */
    void tell(SnapshotCopies.Listener listener) {
        hearer = listener;
    }

    /**
     * From now on copies go to these nodes.
     *
     * @param nodes
     *            for each rank the index of a node, or -1
     */
    void route(List<Integer> nodes) {
        keepers = List.copyOf(nodes);
    }

    /** A node is gone: nothing goes there, and what still comes from it is not wanted. */
    void forget(int node) {
        copies.ifPresent(carrier -> carrier.forget(node));
    }

    /** A rank of this node has kept the state of a stage after so many steps. */
    void kept(int rank, int stage, long stepsDone) {
        List<Integer> now = keepers;
        int keeper = rank < now.size() ? now.get(rank) : NOWHERE;
        if (keeper != NOWHERE) {
            copies.ifPresent(carrier -> carrier.send(keeper, rank, stage, stepsDone));
        }
    }

    @Override
    public void onCopied(int rank, int stage, long stepsDone) {
        hearer.onCopied(rank, stage, stepsDone);
    }
}
