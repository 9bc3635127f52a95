package dev.troupe.rank.snapshot;

import dev.troupe.snapshot.copy.SnapshotCopies;
import java.util.Map;
import java.util.Optional;

/**
 * The routes of snapshot copies: the target node of each rank's copies, and the listener for incoming ones. Thread rule: any
 * thread.
 */
public final class CopyRoutes implements SnapshotCopies.Listener {
    /**
     * A node that keeps copies.
     *
     * @param receiverId the {@linkplain SnapshotCopies#receiverId number} of its receiving process
     */
    public record Buddy(int node, int receiverId) {
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

    /** Sets the listener for incoming copies; it is called on the carrier's thread. */
    public void tell(SnapshotCopies.Listener listener) {
        receiver = listener;
    }

    /** Replaces all routes; a rank without an entry is not copied. */
    public void route(Map<Integer, Buddy> byRank) {
        buddies = Map.copyOf(byRank);
    }

    /** Handles the loss of a node: nothing is sent there, and its copies in flight are dropped. */
    public void forget(int node) {
        copies.ifPresent(carrier -> carrier.forget(node));
    }

    /** Copies a snapshot that a rank of this node has kept. */
    public void kept(int rank, int stage, long stepsDone) {
        Buddy buddy = buddies.get(rank);
        if (buddy != null) {
            copies.ifPresent(carrier -> carrier.send(buddy.node(), buddy.receiverId(), rank, stage, stepsDone));
        }
    }

    @Override
    public void onCopied(int rank, int stage, long stepsDone) {
        receiver.onCopied(rank, stage, stepsDone);
    }
}
