package dev.troupe.transport.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.peer.Host;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.Network;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverHandle;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nodes 0, 1 and 2 share a media driver and have the rank of their number, until node 2 is lost and rank 2 moves. */
@Tag("real")
@Timeout(120)
class MovedRanksTest {
    private static final List<Integer> HOME = List.of(0, 1, 2);
    private static final List<Integer> AWAY = List.of(0, 1, 1);
    private static final Set<Integer> ALL = Set.of(0, 1, 2);
    private static final Set<Integer> LEFT = Set.of(0, 1);
    /** INT32 elements of a message that takes many windows. */
    private static final int LARGE = 1 << 20;
    private static final Duration LINK_TIMEOUT = Duration.ofMillis(300);
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final Edge THERE = Samples.edge(0, 2);
    private static final Edge BACK = Samples.edge(2, 0);

    @TempDir
    Path folder;
    private DriverHandle driver;
    private final List<LinkTransport> nodes = new ArrayList<>();
    private final List<NodeMap> maps = new ArrayList<>();
    private final List<Ear> ears = new ArrayList<>();
    private final CompletableFuture<Void> wake = new CompletableFuture<>();

    @BeforeEach
    void start() {
        driver = DriverHandle.startShared(folder.resolve("driver"),
                List.of(map(0, HOME, ALL), map(1, HOME, ALL), map(2, HOME, ALL)), 0, settings());
        for (int node = 0; node < HOME.size(); node++) {
            maps.add(map(node, HOME, ALL));
            nodes.add(LinkTransport.start(maps.get(node), settings()));
            ears.add(new Ear());
            nodes.get(node).register(node, ears.get(node));
        }
    }

    @AfterEach
    void stop() {
        wake.complete(null);
        nodes.forEach(LinkTransport::close);
        driver.close();
        assertFalse(Files.exists(folder.resolve("driver")), "close must leave no file");
        Samples.awaitNoTransportThread();
    }

    private TransportSettings settings() {
        return new TransportSettings(Optional.of(folder.resolve("driver")), true, 1 << 20, LINK_TIMEOUT);
    }

    private static NodeMap map(int self, List<Integer> nodeOfRank, Set<Integer> peers) {
        return new NodeMap(self, nodeOfRank,
                List.of(endpoint(0), endpoint(0), endpoint(0)), peers);
    }

    private static Endpoint endpoint(int port) {
        return new Endpoint("127.0.0.1", port);
    }

    private void move(int node, int epoch, List<Integer> nodeOfRank, Set<Integer> peers) {
        maps.set(node, maps.get(node).moved(epoch, nodeOfRank, peers));
        nodes.get(node).epoch(epoch, maps.get(node));
    }

    private static void grant(LinkTransport node, int epoch, Edge edge, Tensor buffer) {
        node.grant(epoch, edge, Samples.ENGINE, buffer);
    }

    private static void send(LinkTransport node, int epoch, Edge edge, Tensor tensor) {
        node.send(new MessageId(epoch, 5, edge, 0), Samples.ENGINE, tensor);
    }

    /** Exchanges a message of many windows. */
    private static void requireCarries(int epoch, Edge edge, LinkTransport from, LinkTransport to, Ear receiver)
            throws InterruptedException {
        Tensor source = Samples.random(epoch, LARGE);
        Tensor target = Samples.zeros(LARGE);
        grant(to, epoch, edge, target);
        send(from, epoch, edge, source);
        Ear.Heard landed = Ear.next(receiver.landed);
        assertSame(target, landed.tensor());
        assertEquals(new MessageId(epoch, 5, edge, 0), landed.id());
        assertArrayEquals(Samples.bytes(source), Samples.bytes(target));
    }

    /** Stops node 2 like a stopped or dead process, with a message to it in flight; returns that message. */
    private Tensor stopNodeTwo() throws InterruptedException {
        LinkTransport two = nodes.get(2);
        two.register(2, new Ear() {
            @Override
            public void onLanded(MessageId id, Tensor tensor, int rows) {
                wake.join();
            }
        });
        Tensor large = Samples.zeros(LARGE);
        for (Tensor buffer : List.of(Samples.zeros(1), Samples.zeros(LARGE))) {
            grant(two, 0, THERE, buffer);
        }
        Samples.pending(two); // both grants are taken before the rank stops
        send(nodes.get(0), 0, THERE, Samples.zeros(1));
        Ear.next(ears.get(0).sent);
        send(nodes.get(0), 0, THERE, large);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (nodes.get(0).counters().backPressured() == 0) {
            assertTrue(deadline - System.nanoTime() > 0, "the window never filled");
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        assertEquals(PendingTransfer.State.SENDING, Samples.pending(nodes.get(0)).getFirst().state());
        return large;
    }

    @Test
    void shouldMoveARankWhileMessagesAreHeldAndInFlight() throws InterruptedException {
        Tensor inFlight = stopNodeTwo();
        Tensor held = Samples.zeros(10);
        Tensor buffer = Samples.zeros(10);
        send(nodes.get(0), 0, THERE, held);
        grant(nodes.get(0), 0, BACK, buffer);
        // One node is ahead of the other, and its rank grants at once.
        move(1, 1, AWAY, LEFT);
        var moved = new Ear();
        nodes.get(1).register(2, moved);
        Tensor target = Samples.zeros(LARGE);
        grant(nodes.get(1), 1, THERE, target);
        move(0, 1, AWAY, LEFT);
        assertSame(inFlight, Ear.next(ears.get(0).returned));
        assertSame(held, Ear.next(ears.get(0).returned));
        assertSame(buffer, Ear.next(ears.get(0).returned));
        Tensor source = Samples.random(3, LARGE);
        send(nodes.get(0), 1, THERE, source);
        assertSame(target, Ear.next(moved.landed).tensor());
        assertArrayEquals(Samples.bytes(source), Samples.bytes(target));
        requireCarries(1, BACK, nodes.get(1), nodes.get(0), ears.get(0));
        requireCarries(1, Samples.edge(2, 1), nodes.get(1), nodes.get(1), ears.get(1));
        // Node 2 wakes, and sends many messages that no node receives.
        wake.complete(null);
        send(nodes.get(2), 0, BACK, Samples.zeros(10));
        requireCarries(1, BACK, nodes.get(1), nodes.get(0), ears.get(0));
        assertNull(ears.get(0).landed.peek());
        assertEquals(0, nodes.get(0).counters().droppedFrames() + nodes.get(1).counters().droppedFrames());
    }

    @Test
    void shouldLetGoOfARankThatMovesAway() throws InterruptedException {
        Tensor held = Samples.zeros(10);
        send(nodes.get(2), 0, BACK, held);
        move(2, 1, AWAY, Set.of());
        assertSame(held, Ear.next(ears.get(2).returned));
        assertThrows(IllegalArgumentException.class, () -> send(nodes.get(2), 0, BACK, held));
        assertThrows(IllegalArgumentException.class, () -> nodes.get(2).register(2, new Ear()));
        assertThrows(IllegalArgumentException.class, () -> nodes.get(2).epoch(1, maps.get(2)));
        assertThrows(IllegalArgumentException.class, () -> nodes.get(2).epoch(2, maps.get(1)));
        NodeMap elsewhere = new NodeMap(2, AWAY, List.of(endpoint(1), endpoint(0), endpoint(0)), Set.of());
        assertThrows(IllegalArgumentException.class, () -> nodes.get(2).epoch(2, elsewhere));
        move(2, 2, HOME, Set.of());
        assertThrows(IllegalArgumentException.class, () -> send(nodes.get(2), 2, Samples.edge(2, 2), held),
                "it must be registered anew");
        var anew = new Ear();
        nodes.get(2).register(2, anew);
        requireCarries(2, Samples.edge(2, 2), nodes.get(2), nodes.get(2), anew);
    }

    @Test
    void shouldReportNoFaultOfANodeThatIsGone() throws InterruptedException {
        nodes.get(2).close();
        // Credits for node 2, which it does not read: its link is out of reach.
        grant(nodes.get(0), 0, BACK, Samples.zeros(10));
        assertEquals(1, Samples.pending(nodes.get(0)).size());
        move(0, 1, AWAY, LEFT);
        move(1, 1, AWAY, LEFT);
        Ear.next(ears.get(0).returned);
        ears.get(0).faults.clear(); // it may have told of the link while node 2 had its rank
        assertNull(ears.get(0).faults.poll(3 * LINK_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS));
        nodes.get(1).register(2, new Ear());
        requireCarries(1, BACK, nodes.get(1), nodes.get(0), ears.get(0));
    }

    @Test
    void shouldDropMessagesInFlightToARankThatHasMoved() throws InterruptedException {
        // More frames than are read in a round, in the stream of node 1 to itself, which stays.
        int frames = 40;
        var entered = new CompletableFuture<Void>();
        Edge toItself = Samples.edge(1, 1);
        nodes.get(1).register(1, new Ear() {
            @Override
            public void onLanded(MessageId id, Tensor tensor, int rows) {
                grant(nodes.get(1), 0, toItself, tensor);
                for (int stage = 2; stage < frames; stage++) {
                    grant(nodes.get(1), 0, new Edge(1, 1, stage, MessageKind.ACTIVATION), Samples.zeros(10));
                }
            }

            @Override
            public void onSent(MessageId id, Tensor tensor, long creditNanos) {
                if (!entered.isDone()) {
                    nodes.get(1).send(Samples.id(toItself, 1), Samples.waiting("toHost", entered, wake), tensor);
                }
            }
        });
        grant(nodes.get(1), 0, toItself, Samples.zeros(10));
        grant(nodes.get(1), 0, toItself, Samples.zeros(10));
        send(nodes.get(1), 0, toItself, Samples.zeros(10));
        entered.join();
        move(1, 1, List.of(0, 2, 2), ALL);
        wake.complete(null);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (nodes.get(1).counters().dropped().get(DropReason.OLD_EPOCH) == 0) {
            assertTrue(deadline - System.nanoTime() > 0, () -> "not dropped: " + nodes.get(1).counters());
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        assertEquals(0, nodes.get(1).counters().dropped().get(DropReason.UNKNOWN_RANK));
    }

    @Test
    void shouldExchangeWithANodeThatReturnsNextToItsFormerProcess() throws InterruptedException {
        stopNodeTwo();
        move(0, 1, AWAY, LEFT);
        move(1, 1, AWAY, LEFT);
        nodes.add(LinkTransport.start(map(2, AWAY, Set.of()), settings()));
        maps.add(map(2, AWAY, Set.of()));
        move(0, 2, HOME, ALL);
        move(1, 2, HOME, ALL);
        move(3, 2, HOME, ALL);
        var anew = new Ear();
        nodes.get(3).register(2, anew);
        requireCarries(2, THERE, nodes.get(0), nodes.get(3), anew);
        requireCarries(2, BACK, nodes.get(3), nodes.get(0), ears.get(0));
        requireCarries(2, Samples.edge(2, 1), nodes.get(3), nodes.get(1), ears.get(1));
        requireCarries(2, Samples.edge(2, 2), nodes.get(3), nodes.get(3), anew);
        requireCarries(2, Samples.edge(1, 0), nodes.get(1), nodes.get(0), ears.get(0));
    }

    @Test
    void shouldExchangeWithTheNextProcessOfANodeThatWasKilled() throws Exception {
        nodes.get(2).close();
        maps.set(2, map(2, HOME, ALL));
        for (int node : List.of(0, 1)) { // as if node 2 had never been in this process
            move(node, 1, AWAY, LEFT);
            move(node, 2, HOME, ALL);
        }
        Process first = MirrorNode.start(folder.resolve("driver"), 2, AWAY, HOME);
        try {
            Tensor source = Samples.random(1, LARGE);
            requireMirrors(2, source);
        } finally {
            first.destroyForcibly();
        }
        assertTrue(first.waitFor(30, TimeUnit.SECONDS));
        Tensor lost = Samples.zeros(LARGE);
        send(nodes.get(0), 2, THERE, lost); // it has a buffer for this message, but no listener
        move(0, 3, AWAY, LEFT);
        move(1, 3, AWAY, LEFT);
        assertSame(lost, Ear.next(ears.get(0).returned));
        Process second = MirrorNode.start(folder.resolve("driver"), 4, AWAY, HOME);
        try {
            move(0, 4, HOME, ALL);
            move(1, 4, HOME, ALL);
            requireMirrors(4, Samples.random(2, LARGE));
        } finally {
            second.destroyForcibly();
        }
        assertTrue(second.waitFor(30, TimeUnit.SECONDS));
    }

    private void requireMirrors(int epoch, Tensor source) throws InterruptedException {
        Tensor target = Samples.zeros(LARGE);
        grant(nodes.get(0), epoch, BACK, target);
        send(nodes.get(0), epoch, THERE, source);
        assertSame(target, Ear.next(ears.get(0).landed).tensor());
        assertArrayEquals(Samples.bytes(source), Samples.bytes(target));
        Ear.next(ears.get(0).sent);
    }

    @Test
    void shouldEndWithASentenceIfAStreamCannotBeOpened() throws Exception {
        try (DatagramSocket taken = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            List<Endpoint> endpoints = List.of(endpoint(taken.getLocalPort()),
                    new Endpoint("127.0.0.2", Host.freePort()));
            NodeMap alone = new NodeMap(0, List.of(1, 0), endpoints, Set.of());
            try (LinkTransport node = LinkTransport.start(alone, settings().over(Network.UDP))) {
                var here = new Ear();
                node.register(1, here);
                node.epoch(1, alone.moved(1, List.of(0, 0), Set.of(1)));
                var sentence = assertInstanceOf(TransportFault.TransportEnded.class, Ear.next(here.faults)).sentence();
                assertTrue(sentence.startsWith("the transport could not receive on the channel aeron:udp")
                        && sentence.contains(":" + taken.getLocalPort()), sentence);
                var late = new Ear();
                node.register(0, late);
                assertEquals(sentence, Ear.next(late.faults).sentence());
            }
        }
    }

    @Test
    void shouldKnowSinceWhenANodeHasItsRanks() {
        NodeMap home = map(0, HOME, ALL);
        assertEquals(List.of(0, 0, 0), home.since());
        NodeMap away = home.moved(3, AWAY, LEFT);
        assertEquals(List.of(0, 3, 3), away.since());
        assertEquals(List.of(0, 4, 4), away.moved(4, HOME, ALL).since());
        assertEquals(List.of(0, 3, 3), away.moved(4, AWAY, LEFT).since(), "nobody has moved");
        assertEquals(3, away.streamsSince(0, 1));
        assertEquals(0, away.streamsSince(1, 1));
        assertThrows(IllegalArgumentException.class, () -> away.moved(3, HOME, ALL));
        assertThrows(IllegalArgumentException.class, () -> away.moved(4, List.of(0, 1), ALL));
        assertThrows(IllegalArgumentException.class, () -> away.moved(4, List.of(0, 1, 3), ALL));
    }
}
