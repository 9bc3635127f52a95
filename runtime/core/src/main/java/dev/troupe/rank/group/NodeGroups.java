package dev.troupe.rank.group;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import dev.troupe.collective.peer.PairChannels;
import dev.troupe.collective.peer.PeerCollectives;
import dev.troupe.collective.shared.SharedGroup;
import dev.troupe.config.group.GroupKind;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.transport.Network;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.tcp.Connections;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The process groups of the ranks of a node. If all ranks of a group are on this node, they meet in shared memory. Otherwise
 * Aeron's streams connect them within a machine, and connections or Aeron's streams between machines. Thread rule: any
 * thread.
 */
public final class NodeGroups implements RankGroups {

    /** The way in which members join a group. */
    private interface Joining {
        CollectiveGroup join(int member, int epoch);
    }

    private record Place(Joining joining, int member) {
    }

    /** The map of nodes, with the group and member number of each local rank. */
    private record LocalGroups(NodeMap nodes, Map<GroupKind, Map<Integer, Place>> places) {
    }

    private record Pairs(NodeMap nodes, List<Integer> members, boolean isConnected) implements PairChannels {
        @Override
        public String channel(int from, int to) {
            return nodes.channel(node(from), node(to));
        }

        private int node(int member) {
            return nodes.nodeOf(members.get(member));
        }

        @Override
        public OptionalInt connectedNode(int from, int to) {
            return isConnected && !nodes.shareMachine(node(from), node(to))
                    ? OptionalInt.of(node(to))
                    : OptionalInt.empty();
        }
    }

    private final ParallelLayout ranks;
    private final Path driverDirectory;
    private final Optional<Connections> connections;
    private final Duration deadline;
    private final int groupCount;
    // Groups by number. A group is kept while its ranks are on other nodes: when they return, the first member that joins
    // ends the group's old epoch.
    private final Map<Integer, SharedGroup> sharedGroups = new HashMap<>();
    /** Null if no group of this node has ever had ranks of another node. */
    private PeerCollectives collectives;
    private volatile LocalGroups local;

    private NodeGroups(ParallelLayout ranks, NodeMap nodes, Path driverDirectory, Optional<Connections> connections,
            Duration deadline) {
        this.ranks = ranks;
        this.driverDirectory = driverDirectory;
        this.connections = connections;
        this.deadline = deadline;
        this.groupCount = ranks.collectiveKinds().stream().mapToInt(kind -> ranks.groups(kind).size()).sum();
        this.local = local(nodes);
    }

    private LocalGroups local(NodeMap nodes) {
        Map<GroupKind, Map<Integer, Place>> places = new EnumMap<>(GroupKind.class);
        int number = 0;
        for (GroupKind kind : ranks.collectiveKinds()) {
            Map<Integer, Place> ofKind = new HashMap<>();
            for (List<Integer> members : ranks.groups(kind)) {
                if (members.size() > 1 && members.stream().anyMatch(nodes::isLocal)) {
                    Joining joining = joining(nodes, new Membership(kind.word(), members, deadline), number);
                    for (int member = 0; member < members.size(); member++) {
                        ofKind.put(members.get(member), new Place(joining, member));
                    }
                }
                number++;
            }
            places.put(kind, ofKind);
        }
        return new LocalGroups(nodes, places);
    }

    /**
     * Creates the groups of a run in one JVM.
     *
     * @param deadline the longest wait of a member for the others
     */
    public static NodeGroups ofOneNode(ParallelLayout ranks, Duration deadline) {
        return new NodeGroups(ranks, NodeMap.single(ranks.worldSize()), Path.of(""), Optional.empty(), deadline);
    }

    /**
     * Creates the groups of this node. A client of the media driver is started when a rank first joins a group with a
     * stream.
     *
     * @param connections the connections of this node, which their owner closes; empty if streams lead to other machines
     * @param deadline the longest wait of a member for the others
     */
    public static NodeGroups connect(ParallelLayout ranks, NodeMap nodes, Path driverDirectory,
            Optional<Connections> connections, Duration deadline) {
        return new NodeGroups(ranks, nodes, driverDirectory, connections, deadline);
    }

    /**
     * Returns the bytes of this node's groups in the directory of its media driver, for outgoing streams, and incoming ones
     * from other machines.
     *
     * @param network the protocol to other machines
     */
    public static long driverBytes(ParallelLayout ranks, NodeMap nodes, Network network) {
        return driverBytes(ranks, nodes, network,
                IntStream.range(0, ranks.pipeline()).boxed().collect(Collectors.toUnmodifiableSet()));
    }

    /** As {@link #driverBytes(ParallelLayout, NodeMap, Network)}, only for groups of some places of the pipeline. */
    public static long driverBytes(ParallelLayout ranks, NodeMap nodes, Network network, Set<Integer> places) {
        long streams = 0;
        for (GroupKind kind : ranks.collectiveKinds()) {
            for (List<Integer> members : ranks.groups(kind)) {
                List<Integer> here = members.stream().filter(nodes::isLocal).toList();
                boolean isAsked = places.contains(ranks.coordinates(members.getFirst()).pipeline());
                if (isAsked && !here.isEmpty() && here.size() < members.size()) {
                    List<Integer> byStream = members.stream()
                            .filter(other -> network == Network.UDP || isOfMachine(nodes, other)).toList();
                    streams += byStream.stream().filter(other -> !isOfMachine(nodes, other)).count();
                    for (int member : here) {
                        streams += byStream.stream().filter(other -> other != member)
                                .map(other -> nodes.channel(nodes.self(), nodes.nodeOf(other))).distinct().count();
                    }
                }
            }
        }
        return streams * PeerCollectives.STREAM_BYTES;
    }

    private static boolean isOfMachine(NodeMap nodes, int rank) {
        return nodes.shareMachine(nodes.self(), nodes.nodeOf(rank));
    }

    private Joining joining(NodeMap nodes, Membership membership, int number) {
        List<Integer> members = membership.ranks();
        if (members.stream().allMatch(nodes::isLocal)) {
            return sharedGroups.computeIfAbsent(number, _ -> new SharedGroup(membership))::join;
        }
        if (collectives == null) {
            collectives = PeerCollectives.connect(driverDirectory, connections);
        }
        PeerCollectives between = collectives;
        PairChannels ofMembers = new Pairs(nodes, members, connections.isPresent());
        // For some time the media driver waits for a dead member to read its streams, so each move of ranks uses new
        // streams.
        int since = members.stream().mapToInt(rank -> nodes.since().get(nodes.nodeOf(rank))).max().orElseThrow();
        int streams = since * groupCount + number;
        return (member, epoch) -> between.join(membership, streams, member, epoch, ofMembers);
    }

    @Override
    public synchronized void enter(NodeMap nodes) {
        local = local(nodes);
    }

    @Override
    public Optional<CollectiveGroup> join(GroupKind kind, int rank, int epoch) {
        LocalGroups present = local;
        NodeMap nodes = present.nodes();
        if (!nodes.isLocal(rank)) {
            throw new IllegalArgumentException("a rank joins its groups on its own node, but rank " + rank
                    + " lives on node " + nodes.nodeOf(rank) + " and this is node " + nodes.self());
        }
        return Optional.ofNullable(present.places().get(kind).get(rank))
                .map(place -> place.joining().join(place.member(), epoch));
    }

    @Override
    public synchronized void close() {
        if (collectives != null) {
            collectives.close();
        }
    }
}
