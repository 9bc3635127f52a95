package dev.troupe.rank;

import dev.troupe.snapshot.copy.SnapshotCopies;
import java.util.Map;
import java.util.Optional;

/**
 * The routes of snapshot copies: the nodes that copies of this node's ranks go to, and the listener for copies from other
 * nodes. Thread rule: any thread.
 */
public final class CopyRoutes implements SnapshotCopies.Listener {
    /**
     * A node that keeps copies.
     *
     * @param door the {@linkplain SnapshotCopies#door number} under which its process takes them in
     */
    public record Buddy(int node, int door) {
    }

    private volatile Optional<SnapshotCopies> copies = Optional.empty();
    // By rank; a rank without a buddy is absent.
    private volatile Map<Integer, Buddy> buddies = Map.of();
    private volatile SnapshotCopies.Listener receiver = (_, _, _) -> {
    };

    /** Sets the carrier of copies; without one, nothing is copied. */
    public void over(SnapshotCopies carrier) {
        copies = Optional.of(carrier);
    }

    /** From now on this listener receives incoming copies, on the thread that copies. */
    public void tell(SnapshotCopies.Listener listener) {
        receiver = listener;
    }

    /** From now on the copies of these ranks go to these nodes, and no other rank is copied. */
    public void route(Map<Integer, Buddy> byRank) {
        buddies = Map.copyOf(byRank);
    }

    /** A node is gone: nothing is sent there, and copies that still come from it are dropped. */
    public void forget(int node) {
        copies.ifPresent(carrier -> carrier.forget(node));
    }

    /** A rank of this node has kept the state of a stage after {@code stepsDone} steps. */
    public void kept(int rank, int stage, long stepsDone) {
        Buddy buddy = buddies.get(rank);
        if (buddy != null) {
            copies.ifPresent(carrier -> carrier.send(buddy.node(), buddy.door(), rank, stage, stepsDone));
        }
    }

    @Override
    public void onCopied(int rank, int stage, long stepsDone) {
        receiver.onCopied(rank, stage, stepsDone);
    }
}
