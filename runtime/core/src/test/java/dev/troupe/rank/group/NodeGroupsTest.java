package dev.troupe.rank.group;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Crowd;
import dev.troupe.collective.Naive;
import dev.troupe.collective.Reduction;
import dev.troupe.collective.peer.Host;
import dev.troupe.collective.peer.PeerCollectives;
import dev.troupe.config.group.GroupKind;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.engine.DataType;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.Network;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.tcp.Connections;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Nodes of one world, as Aeron clients of one or several media drivers in this JVM. */
@Tag("real")
@Dealt(5)
class NodeGroupsTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30);
    /** The deadline if a member does not come. */
    private static final Duration SHORT = Duration.ofSeconds(2);
    private static final int[] ELEMENTS = {1, 100, 9001, 60_000};

    private final List<Host> hosts = new ArrayList<>();
    private final List<NodeGroups> nodes = new ArrayList<>();
    private final List<Connections> connections = new ArrayList<>();
    private final List<NodeMap> maps = new ArrayList<>();
    private List<Integer> nodeOfRank;
    private Network network = Network.TCP;

    /** Starts the nodes of a world: {@code nodeOfRank} has a digit for each rank, {@code hostOfNode} one for each node. */
    private void start(ParallelLayout ranks, String nodeOfRanks, String hostOfNodes, boolean isNetworkBad,
            Duration deadline) {
        nodeOfRank = digits(nodeOfRanks);
        List<Integer> hostOfNode = digits(hostOfNodes);
        while (hosts.size() <= Collections.max(hostOfNode)) {
            hosts.add(isNetworkBad ? Host.bad() : Host.good());
        }
        List<Endpoint> endpoints = hostOfNode.stream().map(this::endpointOn).toList();
        for (int node = 0; node < hostOfNode.size(); node++) {
            maps.add(new NodeMap(node, nodeOfRank, endpoints, Set.of()));
            if (network == Network.TCP) {
                connections.add(connections(maps.getLast()));
            }
            nodes.add(NodeGroups.connect(ranks, maps.getLast(), hosts.get(hostOfNode.get(node)).directory(),
                    network == Network.TCP ? Optional.of(connections.getLast()) : Optional.empty(), deadline));
        }
    }

    private static Connections connections(NodeMap nodes) {
        Endpoint own = nodes.endpoints().get(nodes.self());
        try {
            return new Connections(nodes, DataPort.open(new InetSocketAddress(own.host(), own.port()), RunKey.open()),
                    Optional.empty());
        } catch (IOException refused) {
            throw new UncheckedIOException(refused);
        }
    }

    /** Every machine has an address of its own on the loopback device. */
    private Endpoint endpointOn(int host) {
        return new Endpoint("127.0.0." + (1 + host), network == Network.TCP ? Host.freeTcpPort() : Host.freePort());
    }

    private static List<Integer> digits(String text) {
        return text.chars().map(Character::getNumericValue).boxed().toList();
    }

    @AfterEach
    void stop() {
        nodes.forEach(NodeGroups::close);
        connections.forEach(Connections::close);
        hosts.forEach(Host::close);
        hosts.forEach(host -> assertFalse(Files.exists(host.directory())));
    }

    /** Returns every rank's view of a group, joined one after another on this thread. */
    private List<CollectiveGroup> join(GroupKind kind, int... ranks) {
        return IntStream.of(ranks)
                .mapToObj(rank -> nodes.get(nodeOfRank.get(rank)).join(kind, rank, 0).orElseThrow()).toList();
    }

    /** Moves ranks from an epoch on; returns the data group of each then. */
    private List<CollectiveGroup> move(int epoch, String nodeOfRanks) {
        nodeOfRank = digits(nodeOfRanks);
        for (int node = 0; node < nodes.size(); node++) {
            maps.set(node, maps.get(node).moved(epoch, nodeOfRank, Set.of()));
            nodes.get(node).enter(maps.get(node));
        }
        return IntStream.range(0, nodeOfRank.size())
                .mapToObj(rank -> nodes.get(nodeOfRank.get(rank)).join(GroupKind.DATA, rank, epoch).orElseThrow())
                .toList();
    }

    private List<CollectiveGroup> joinData() {
        return join(GroupKind.DATA, IntStream.range(0, nodeOfRank.size()).toArray());
    }

    @ParameterizedTest(name = "ranks on nodes {0}, nodes on machines {1}")
    @CsvSource({"01,00", "01,01", "010,00", "012,001", "012,012", "0110,01", "0122,010", "0123,0101"})
    void shouldHaveTheBitsOfOneJvm(String nodeOfRanks, String hostOfNodes) {
        requireTheBitsOfOneJvm(nodeOfRanks, hostOfNodes, false);
    }

    @ParameterizedTest(name = "ranks on nodes {0}, nodes on machines {1}")
    @CsvSource({"01,01", "0110,01", "0122,010"})
    void shouldHaveTheBitsOfOneJvmOverUdp(String nodeOfRanks, String hostOfNodes) {
        network = Network.UDP;
        requireTheBitsOfOneJvm(nodeOfRanks, hostOfNodes, false);
    }

    @ParameterizedTest(name = "ranks on nodes {0}, nodes on machines {1}")
    @CsvSource({"01,01", "012,011", "0122,012"})
    void shouldHaveTheBitsOfOneJvmOverABadNetwork(String nodeOfRanks, String hostOfNodes) {
        network = Network.UDP; // the kernel repeats what TCP loses
        requireTheBitsOfOneJvm(nodeOfRanks, hostOfNodes, true);
        assertTrue(hosts.stream().mapToLong(Host::spoiledPackets).sum() > 10, "the network was not bad");
    }

    private void requireTheBitsOfOneJvm(String nodeOfRanks, String hostOfNodes, boolean isNetworkBad) {
        int size = nodeOfRanks.length();
        ParallelLayout ranks = new ParallelLayout(1, size, 1);
        start(ranks, nodeOfRanks, hostOfNodes, isNetworkBad, DEADLINE);
        byte[][] found = play(joinData());
        try (NodeGroups oneNode = NodeGroups.ofOneNode(ranks, DEADLINE)) {
            byte[][] expected = play(IntStream.range(0, size)
                    .mapToObj(rank -> oneNode.join(GroupKind.DATA, rank, 0).orElseThrow()).toList());
            for (int member = 0; member < size; member++) {
                assertArrayEquals(expected[member], found[member], "member " + member);
            }
        }
    }

    /** Does every collective at several sizes; returns each member's results of all of them. */
    private static byte[][] play(List<CollectiveGroup> members) {
        byte[][] results = new byte[members.size()][];
        Crowd.play(members, group -> results[group.member()] = playAsMember(group));
        return results;
    }

    private static byte[] playAsMember(CollectiveGroup group) {
        int size = group.size();
        try (Arena arena = Arena.ofShared()) {
            long bytesOfAll = IntStream.of(ELEMENTS).mapToLong(elements -> 4L * elements * (2 + 3 * size)).sum();
            MemorySegment all = arena.allocate(bytesOfAll);
            long next = 0;
            for (int elements : ELEMENTS) {
                MemorySegment reduced = values(arena, elements, group.member());
                group.allReduce(reduced, DataType.FLOAT32, Reduction.SUM);
                next = keep(reduced, all, next);
                MemorySegment whole = values(arena, elements * size, group.member());
                MemorySegment slice = arena.allocate(4L * elements);
                group.reduceScatter(whole, slice, DataType.FLOAT32, Reduction.SUM);
                next = keep(slice, all, next);
                group.barrier();
                group.allGather(slice, whole);
                next = keep(whole, all, next);
                group.broadcast(whole, elements % size);
                next = keep(whole, all, next);
                MemorySegment most = values(arena, elements * size, group.member());
                group.allReduce(most, DataType.FLOAT32, Reduction.MAXIMUM);
                next = keep(most, all, next);
            }
            assertEquals(bytesOfAll, next);
            return all.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static long keep(MemorySegment result, MemorySegment all, long at) {
        MemorySegment.copy(result, 0, all, at, result.byteSize());
        return at + result.byteSize();
    }

    private static MemorySegment values(Arena arena, int elements, int member) {
        return Naive.values(arena, DataType.FLOAT32, elements, member, elements);
    }

    @ParameterizedTest
    @CsvSource({"001", "012"})
    void shouldMeetOnThePresentNodesOfTheRanks(String hostOfNodes) {
        start(new ParallelLayout(1, 3, 1), "001", hostOfNodes, false, DEADLINE);
        byte[][] expected = play(joinData());
        // No member leaves: node 1 is lost, then its successor, and its ranks do not read any more.
        for (String nodeOfRanks : List.of("000", "002", "001", "221", "222", "012")) {
            int epoch = 1 + maps.getFirst().since().stream().mapToInt(Integer::intValue).max().orElseThrow();
            List<CollectiveGroup> members = move(epoch, nodeOfRanks);
            for (int time = 0; time < 3; time++) {
                byte[][] found = play(members);
                for (int member = 0; member < expected.length; member++) {
                    assertArrayEquals(expected[member], found[member], nodeOfRanks + ", member " + member);
                }
            }
        }
        assertThrows(IllegalArgumentException.class, () -> nodes.get(1).join(GroupKind.DATA, 0, 99));
    }

    @Test
    void shouldKeepGroupsApartThatShareStreamsOfOnePort() {
        // Tensor groups [0, 1] and [2, 3] and data groups [0, 2] and [1, 3], each across both machines or within one.
        start(new ParallelLayout(1, 2, 2), "0110", "01", false, DEADLINE);
        List<List<CollectiveGroup>> groups = List.of(join(GroupKind.TENSOR, 0, 1), join(GroupKind.TENSOR, 2, 3),
                join(GroupKind.DATA, 0, 2), join(GroupKind.DATA, 1, 3));
        Crowd.play(groups, NodeGroupsTest::play);
    }

    @Test
    void shouldNeedNoMediaDriverIfEveryGroupIsWholeOnItsNode() {
        ParallelLayout ranks = new ParallelLayout(2, 1, 2);
        NodeMap nodes = new NodeMap(0, List.of(0, 0, 1, 1), List.of(endpointOn(0), endpointOn(1)), Set.of(1));
        assertEquals(0, NodeGroups.driverBytes(ranks, nodes, network));
        try (NodeGroups groups = NodeGroups.connect(ranks, nodes, Path.of("nowhere"), Optional.empty(), DEADLINE)) {
            assertTrue(groups.join(GroupKind.TENSOR, 1, 0).isPresent());
            assertTrue(groups.join(GroupKind.DATA, 1, 0).isEmpty());
            assertThrows(IllegalArgumentException.class, () -> groups.join(GroupKind.TENSOR, 2, 0));
        }
    }

    @ParameterizedTest(name = "ranks on nodes {0}, nodes on machines {1}, {2}: {3} streams")
    @CsvSource({"01,00,UDP,2", "01,01,UDP,4", "0011,00,UDP,4", "0011,01,UDP,12", "0122,011,UDP,13", "0000,0,UDP,0",
            "01,00,TCP,2", "01,01,TCP,0", "0011,01,TCP,4", "0122,011,TCP,3"})
    void shouldTakeTheRoomItAnnounces(String nodeOfRanks, String hostOfNodes, Network between, int streams)
            throws IOException {
        network = between;
        ParallelLayout ranks = new ParallelLayout(1, nodeOfRanks.length(), 1);
        start(ranks, nodeOfRanks, hostOfNodes, false, DEADLINE);
        play(joinData());
        long taken = 0;
        for (Host host : hosts) {
            for (String kind : List.of("publications", "images")) {
                try (Stream<Path> logs = Files.list(host.directory().resolve(kind))) {
                    taken += logs.mapToLong(log -> log.toFile().length()).sum();
                }
            }
        }
        assertEquals(streams * PeerCollectives.STREAM_BYTES, taken);
        assertEquals(taken, maps.stream().mapToLong(node -> NodeGroups.driverBytes(ranks, node, network)).sum());
    }

    @ParameterizedTest
    @CsvSource({"00", "01"})
    void shouldNameTheRankThatDoesNotCome(String hostOfNodes) {
        start(new ParallelLayout(1, 3, 1), "001", hostOfNodes, false, SHORT);
        List<CollectiveGroup> present = join(GroupKind.DATA, 0, 1);
        for (Throwable failure : Crowd.failures(present, CollectiveGroup::barrier)) {
            CollectiveException named = assertInstanceOf(CollectiveException.class, failure);
            assertTrue(named.getMessage().contains(": member 2 (rank 2) did not come within 2.00 s"),
                    named.getMessage());
            assertEquals(OptionalInt.of(2), named.culprit());
        }
    }

    @ParameterizedTest
    @CsvSource({"000", "010", "012"})
    void shouldNameTheRankOfADeadNode(String hostOfNodes) {
        start(new ParallelLayout(1, 3, 1), "012", hostOfNodes, false, SHORT);
        List<CollectiveGroup> members = joinData();
        Crowd.play(members, CollectiveGroup::barrier);
        // Its client closes all its streams, without a message to the others.
        nodes.get(1).close();
        List<Throwable> failures = Crowd.failures(members, NodeGroupsTest::playAsMember);
        for (int member : new int[]{0, 2}) {
            CollectiveException named = assertInstanceOf(CollectiveException.class, failures.get(member));
            assertTrue(named.getMessage().contains(": member 1 (rank 1) did not come within 2.00 s"),
                    named.getMessage());
            assertEquals(OptionalInt.of(1), named.culprit());
        }
        String own = assertInstanceOf(CollectiveException.class, failures.get(1)).getMessage();
        assertTrue(own.contains("lost") && own.contains("media driver"), own);
    }
}
