package dev.troupe.rank.group;

import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.config.group.GroupKind;
import dev.troupe.transport.NodeMap;
import java.util.Optional;

/** The process groups of a node's ranks. Thread rule: any thread. */
public interface RankGroups extends AutoCloseable {
    /**
     * Joins a rank to its group of a kind. It does not wait for other ranks; the first collective does.
     *
     * @param kind one of {@link dev.troupe.config.group.ParallelLayout#collectiveKinds}
     * @return the group from the side of the rank; empty if the rank is alone in it
     * @throws CollectiveException if the group cannot be reached, is in a later epoch, or the rank has joined it in this
     *     epoch already
     */
    Optional<CollectiveGroup> join(GroupKind kind, int rank, int epoch);

    /**
     * Replaces the map of nodes when ranks move. All nodes call this before a rank joins in the epoch of the move, with maps
     * that differ only in {@link NodeMap#self}. Groups joined before are not changed; if such a group has a moved rank, its
     * members must leave and join again.
     */
    void enter(NodeMap nodes);

    /** Releases the resources of the groups, after all ranks of the node have left them. */
    @Override
    void close();
}
