package dev.troupe.collective.node;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import dev.troupe.collective.RankGroups;
import dev.troupe.collective.aeron.AeronCollectives;
import dev.troupe.collective.aeron.PairChannels;
import dev.troupe.collective.shared.SharedGroup;
import dev.troupe.config.group.GroupKind;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.transport.NodeMap;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The process groups that the ranks of a node are in. Those whose ranks all live here meet in shared memory; the others
 * go over Aeron.
 *
 * <p>Thread rule: any thread.
 */
public final class NodeGroups implements RankGroups {
    private static final List<GroupKind> KINDS = List.of(GroupKind.TENSOR, GroupKind.DATA);
    private static final String IPC = PairChannels.ONE_MACHINE.channel(0, 1);

    /** How members of a group join it. */
    private interface Door {
        CollectiveGroup join(int member, int epoch);
    }

    private record Place(Door door, int member) {
    }

    private final Map<GroupKind, Map<Integer, Place>> places = new EnumMap<>(GroupKind.class);
    private final NodeMap nodes;
    private final Path driverDirectory;
    /** Null where every group of this node is whole here. */
    private AeronCollectives collectives;

    private NodeGroups(ParallelLayout ranks, NodeMap nodes, Path driverDirectory, Duration deadline) {
        this.nodes = nodes;
        this.driverDirectory = driverDirectory;
        int number = 0;
        for (GroupKind kind : KINDS) {
            Map<Integer, Place> ofKind = new HashMap<>();
            for (List<Integer> members : ranks.groups(kind)) {
                if (members.size() > 1 && members.stream().anyMatch(nodes::isLocal)) {
                    Door door = door(new Membership(kind.word(), members, deadline), number);
                    for (int member = 0; member < members.size(); member++) {
                        ofKind.put(members.get(member), new Place(door, member));
                    }
                }
                number++;
            }
            places.put(kind, ofKind);
        }
    }

    /**
     * Makes the groups of a world whose ranks all live in this JVM.
     *
     * @param deadline
     *            how long a member may wait for the others
     */
    public static NodeGroups ofOneNode(ParallelLayout ranks, Duration deadline) {
        return new NodeGroups(ranks, NodeMap.single(ranks.worldSize()), Path.of(""), deadline);
    }

    /**
     * Makes the groups of this node; it connects to the media driver if one of them has ranks elsewhere.
     *
     * @param driverDirectory
     *            where the media driver of this node keeps its files
     * @param deadline
     *            how long a member may wait for the others
     */
    public static NodeGroups connect(ParallelLayout ranks, NodeMap nodes, Path driverDirectory, Duration deadline) {
        return new NodeGroups(ranks, nodes, driverDirectory, deadline);
    }

    /**
     * Bytes that the groups of this node take in the directory of its media driver: the streams that its ranks write, and
     * those that come from other machines.
     */
    public static long driverBytes(ParallelLayout ranks, NodeMap nodes) {
        long streams = 0;
        for (GroupKind kind : KINDS) {
            for (List<Integer> members : ranks.groups(kind)) {
                List<Integer> here = members.stream().filter(nodes::isLocal).toList();
                if (!here.isEmpty() && here.size() < members.size()) {
                    streams += members.stream()
                            .filter(other -> !nodes.channel(nodes.nodeOf(other), nodes.self()).equals(IPC)).count();
                    for (int member : here) {
                        streams += members.stream().filter(other -> other != member)
                                .map(other -> nodes.channel(nodes.self(), nodes.nodeOf(other))).distinct().count();
                    }
                }
            }
        }
        return streams * AeronCollectives.STREAM_BYTES;
    }

    private Door door(Membership membership, int number) {
        List<Integer> ranks = membership.ranks();
        if (ranks.stream().allMatch(nodes::isLocal)) {
            return new SharedGroup(membership)::join;
        }
        if (collectives == null) {
            collectives = AeronCollectives.connect(driverDirectory);
        }
        AeronCollectives between = collectives;
        PairChannels ofMembers = (from, to) -> nodes.channel(nodes.nodeOf(ranks.get(from)),
                nodes.nodeOf(ranks.get(to)));
        return (member, epoch) -> between.join(membership, number, member, epoch, ofMembers);
    }

    @Override
    public Optional<CollectiveGroup> join(GroupKind kind, int rank, int epoch) {
        if (!nodes.isLocal(rank)) {
            throw new IllegalArgumentException("a rank joins its groups on its own node, but rank " + rank
                    + " lives on node " + nodes.nodeOf(rank) + " and this is node " + nodes.self());
        }
        return Optional.ofNullable(places.get(kind).get(rank))
                .map(place -> place.door().join(place.member(), epoch));
    }

    @Override
    public void close() {
        if (collectives != null) {
            collectives.close();
        }
    }
}
