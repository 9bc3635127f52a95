package dev.troupe.rank.group;

import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.config.group.GroupKind;
import dev.troupe.transport.NodeMap;
import java.util.Optional;

/** The process groups of a node's ranks. Any thread may call any method. */
public interface RankGroups extends AutoCloseable {
    /**
     * Joins a rank to its group of a kind, without waiting for other ranks; the first collective waits.
     *
     * @param kind {@link GroupKind#TENSOR} or {@link GroupKind#DATA}
     * @return the group from the side of the rank; empty if the rank is alone in it
     * @throws CollectiveException if the group cannot be reached, is in a later epoch, or the rank has joined in this one
     *     already
     */
    Optional<CollectiveGroup> join(GroupKind kind, int rank, int epoch);

    /**
     * Moves ranks to other nodes: ranks that join from now on use this map. The call comes before the first of them joins in
     * the epoch of the move, on all nodes with maps that are equal but for {@link NodeMap#self}. A rank that has joined by
     * the earlier map remains in its group until it leaves: the members of a group with a moved rank leave it, and join
     * anew.
     */
    void enter(NodeMap nodes);

    /** Releases the resources of the groups, after all ranks of the node have left them. */
    @Override
    void close();
}
