package dev.troupe.collective;

import dev.troupe.config.group.GroupKind;
import dev.troupe.transport.NodeMap;
import java.util.Optional;

/** Where the ranks of a node find the process groups they are in. Any thread may call any method. */
public interface RankGroups extends AutoCloseable {
    /**
     * Joins a rank to its group of a kind. It waits for no other rank; the first collective does.
     *
     * @param kind
     *            {@link GroupKind#TENSOR} or {@link GroupKind#DATA}
     * @param epoch
     *            the epoch the rank is of
     * @return the group as the rank sees it; empty where the rank is alone in it
     * @throws CollectiveException
     *             where the group cannot be reached, is in a later epoch, or the rank has joined in this one already
     */
    Optional<CollectiveGroup> join(GroupKind kind, int rank, int epoch);

    /**
     * Ranks live at new places: whoever joins from now on does so by this map. Comes before the first of them joins in the
     * epoch of the move, on all nodes with maps that are alike but for {@link NodeMap#self}. Who is in a group by the
     * map before stays in it until it leaves: the members of a group of which a rank moved leave it, and join anew.
     */
    void enter(NodeMap nodes);

    /** After all ranks of the node have left their groups: gives back what the groups are made of. */
    @Override
    void close();
}
