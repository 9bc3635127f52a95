package dev.troupe.snapshot.stream;

import static dev.troupe.snapshot.stream.CopyingNode.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.peer.Host;
import dev.troupe.rank.snapshot.SampleState;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.snapshot.copy.CopyCounters;
import dev.troupe.snapshot.stream.CopyingNode.Copied;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.TransportSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes of one JVM that copy to each other through media drivers. */
@Tag("real")
@Timeout(120)
class StreamedCopiesTest {
    private static final int RANK = 7;
    private static final int LARGE = 16 << 20;
    /** Four times the most that may be in flight. */
    private static final int MANY = 1 << 20;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final List<Endpoint> endpoints = List.of(new Endpoint("localhost", Host.freePort()),
            new Endpoint("localhost", Host.freePort()), new Endpoint("127.0.0.1", Host.freePort()));
    private final Host host = keep(Host.good());

    private <T extends AutoCloseable> T keep(T resource) {
        open.add(resource);
        return resource;
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable resource : open.reversed()) {
            resource.close();
        }
        assertEquals(List.of(), Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                .filter(name -> name.equals("troupe-copies")).toList(), "close must leave no thread");
    }

    private CopyingNode node(int self) {
        return keep(new CopyingNode(self, host, endpoints));
    }

    private CopyingNode sharing(int self) {
        return keep(new CopyingNode(self, host, self + 1, true, endpoints));
    }

    /** Sends the first state of another stage after a copy, and waits until a part of it is on its way. */
    private static void beginToSend(CopyingNode from, SampleState large) {
        await(() -> from.copies.counters().sent() == 1, "the copy before is counted");
        long sentBefore = from.copies.counters().bytesSent();
        large.keep(from.snapshots, RANK, 1, 1);
        from.copies.send(1, 2, RANK, 1, 1);
        await(() -> from.copies.counters().bytesSent() > sentBefore, "the large one is on its way");
    }

    @Test
    void shouldCopySnapshotsOfEverySizeBitForBit() throws InterruptedException {
        CopyingNode from = node(0);
        CopyingNode to = node(1);
        // Nothing; one element; around a frame of 65,408 bytes and one of lines; many terms.
        int[][] sizes = {{}, {1}, {16_352}, {16_353}, {3, 100_000, 1}, {LARGE}};
        for (int stage = 0; stage < sizes.length; stage++) {
            try (SampleState state = new SampleState(sizes[stage])) {
                for (long steps = 1; steps <= 2; steps++) {
                    state.keep(from.snapshots, RANK, stage, steps);
                    from.copies.send(1, 2, RANK, stage, steps);
                    assertEquals(new Copied(RANK, stage, steps), to.next());
                    state.requireKept(to.snapshots, RANK, stage, steps);
                }
                assertEquals(List.of(1L, 2L), to.snapshots.versions(RANK, stage));
            }
        }
        await(() -> from.copies.counters().sent() == 2 * sizes.length, "all copies are counted");
        assertTrue(from.copies.counters().bytesSent() > 2L * 4 * LARGE);
        assertEquals(new CopyCounters(0, 0, 0, 2 * sizes.length, 0), to.copies.counters());
    }

    @Test
    void shouldLendItsMemoryToAnotherProcessOfTheMachine() throws InterruptedException {
        CopyingNode from = sharing(0);
        CopyingNode to = sharing(1);
        try (SampleState state = new SampleState(3, LARGE)) {
            for (long steps = 1; steps <= 3; steps++) {
                state.keep(from.snapshots, RANK, 0, steps);
                from.copies.send(1, 2, RANK, 0, steps);
                assertEquals(new Copied(RANK, 0, steps), to.next());
                state.requireKept(to.snapshots, RANK, 0, steps);
            }
        }
        assertTrue(from.copies.counters().bytesSent() < 1000, "bytes sent: " + from.copies.counters());
        assertEquals(new CopyCounters(0, 0, 0, 3, 0), to.copies.counters());
    }

    @Test
    void shouldSendTheBytesIfMemoryCannotBeShared() throws InterruptedException {
        CopyingNode from = sharing(0);
        CopyingNode to = node(1);
        try (SampleState state = new SampleState(3, 1000)) {
            for (long steps = 1; steps <= 2; steps++) {
                state.keep(from.snapshots, RANK, 0, steps);
                from.copies.send(1, 2, RANK, 0, steps);
                assertEquals(new Copied(RANK, 0, steps), to.next());
                state.requireKept(to.snapshots, RANK, 0, steps);
            }
        }
        await(() -> from.copies.counters().sent() == 3, "one of them was declined");
        assertTrue(from.copies.counters().bytesSent() > 8000, "bytes sent: " + from.copies.counters());
        assertEquals(2, to.copies.counters().received());
    }

    @Test
    void shouldNotLendItsMemoryToAnotherMachine() throws InterruptedException {
        CopyingNode here = sharing(0);
        CopyingNode there = keep(new CopyingNode(2, keep(Host.good()), 3, true, endpoints));
        try (SampleState state = new SampleState(3, 1000)) {
            state.keep(here.snapshots, RANK, 0, 1);
            here.copies.send(2, 3, RANK, 0, 1);
            assertEquals(new Copied(RANK, 0, 1), there.next());
            state.requireKept(there.snapshots, RANK, 0, 1);
        }
        await(() -> here.copies.counters().bytesSent() > 4000, "the bytes are counted");
    }

    @Test
    void shouldCopyBothWaysBetweenMachinesOverABadNetwork() throws InterruptedException {
        CopyingNode here = node(0);
        Host other = keep(Host.bad());
        CopyingNode there = keep(new CopyingNode(2, other, endpoints));
        try (SampleState state = new SampleState(100, 200_000)) {
            for (long steps = 1; steps <= 2; steps++) {
                state.keep(here.snapshots, RANK, 0, steps);
                state.keep(there.snapshots, RANK, 1, steps);
                here.copies.send(2, 3, RANK, 0, steps);
                there.copies.send(0, 1, RANK, 1, steps);
                assertEquals(new Copied(RANK, 0, steps), there.next());
                assertEquals(new Copied(RANK, 1, steps), here.next());
                state.requireKept(there.snapshots, RANK, 0, steps);
                state.requireKept(here.snapshots, RANK, 1, steps);
            }
        }
        assertTrue(other.spoiledPackets() > 0);
    }

    @Test
    void shouldSendTheLatestTwoToANodeThatComesLate() throws InterruptedException {
        CopyingNode from = node(0);
        try (SampleState state = new SampleState(1000)) {
            for (long steps = 1; steps <= 5; steps++) {
                for (int stage = 0; stage < 2; stage++) {
                    state.keep(from.snapshots, RANK, stage, steps);
                    from.copies.send(1, 2, RANK, stage, steps);
                }
            }
            CopyingNode to = node(1);
            for (long steps = 4; steps <= 5; steps++) {
                assertEquals(new Copied(RANK, 0, steps), to.next());
                assertEquals(new Copied(RANK, 1, steps), to.next());
                state.requireKept(to.snapshots, RANK, 1, steps);
            }
            assertEquals(new CopyCounters(0, 0, 0, 4, 0), to.copies.counters());
        }
    }

    @Test
    void shouldBreakOffAnOverwrittenSnapshotAndSendTheLatest() throws InterruptedException {
        CopyingNode from = node(0);
        CopyingNode to = node(1);
        try (SampleState small = new SampleState(1); SampleState large = new SampleState(MANY)) {
            small.keep(from.snapshots, RANK, 0, 1);
            to.gate = new CountDownLatch(1);
            from.copies.send(1, 2, RANK, 0, 1);
            assertEquals(new Copied(RANK, 0, 1), to.next()); // and reads no more before the gate opens
            beginToSend(from, large);
            for (long steps = 2; steps <= 3; steps++) {
                large.keep(from.snapshots, RANK, 1, steps);
                from.copies.send(1, 2, RANK, 1, steps);
            }
            to.gate.countDown();
            for (long steps = 2; steps <= 3; steps++) {
                assertEquals(new Copied(RANK, 1, steps), to.next());
                large.requireKept(to.snapshots, RANK, 1, steps);
            }
            assertEquals(List.of(2L, 3L), to.snapshots.versions(RANK, 1));
            assertEquals(1, from.copies.counters().brokenOff());
            assertEquals(1, to.copies.counters().refused());
        }
    }

    @Test
    void shouldContinueWithANodeThatReturnsAfterItsDeath() throws InterruptedException {
        CopyingNode from = node(0);
        CopyingNode to = node(1);
        try (SampleState small = new SampleState(1); SampleState large = new SampleState(MANY)) {
            small.keep(from.snapshots, RANK, 0, 1);
            to.gate = new CountDownLatch(1);
            from.copies.send(1, 2, RANK, 0, 1);
            to.next();
            beginToSend(from, large);
            to.close();
            await(() -> from.copies.counters().brokenOff() == 1, "the death is noticed");
            CopyingNode again = node(1);
            assertEquals(new Copied(RANK, 1, 1), again.next(), "it waits for whoever listens next");
            large.requireKept(again.snapshots, RANK, 1, 1);
            from.copies.forget(1);
            small.keep(from.snapshots, RANK, 0, 2);
            from.copies.send(1, 2, RANK, 0, 2);
            assertEquals(new Copied(RANK, 0, 2), again.next(), "over a new stream");
        }
    }

    @Test
    void shouldReportAStateThatItHasAndLeaveItWhole() throws InterruptedException {
        CopyingNode from = node(0);
        CopyingNode to = node(1);
        try (SampleState state = new SampleState(1000)) {
            for (long steps = 1; steps <= 2; steps++) {
                state.keep(from.snapshots, RANK, 0, steps);
                from.copies.send(1, 2, RANK, 0, steps);
                assertEquals(new Copied(RANK, 0, steps), to.next());
            }
            for (long steps = 1; steps <= 2; steps++) {
                from.copies.send(1, 2, RANK, 0, steps);
                assertEquals(new Copied(RANK, 0, steps), to.next());
            }
            assertEquals(2, to.copies.counters().received());
        }
    }

    @Test
    void shouldTakeAnEarlierStateThatItLacks() throws InterruptedException {
        CopyingNode from = node(0);
        CopyingNode to = node(1);
        try (SampleState state = new SampleState(1000)) {
            state.keep(from.snapshots, RANK, 0, 1);
            state.keep(from.snapshots, RANK, 0, 2);
            for (long steps = 2; steps >= 1; steps--) {
                from.copies.send(1, 2, RANK, 0, steps);
                assertEquals(new Copied(RANK, 0, steps), to.next());
            }
            assertEquals(List.of(1L, 2L), to.snapshots.versions(RANK, 0));
        }
    }

    @Test
    void shouldReachTheProcessOfAReceiverIdAndNoOtherOfItsNode() throws InterruptedException {
        CopyingNode from = node(0);
        CopyingNode former = node(1);
        CopyingNode later = keep(new CopyingNode(1, host, 99, false, endpoints));
        try (SampleState state = new SampleState(10)) {
            state.keep(from.snapshots, RANK, 0, 1);
            from.copies.send(1, 2, RANK, 0, 1);
            former.next();
            from.copies.send(1, 99, RANK, 0, 1);
            assertEquals(new Copied(RANK, 0, 1), later.next());
            assertEquals(1, former.copies.counters().received());
        }
    }

    @Test
    void shouldIgnoreANodeThatIsForgotten() throws InterruptedException {
        CopyingNode dead = node(0);
        CopyingNode to = node(1);
        CopyingNode living = node(2);
        try (SampleState state = new SampleState(10)) {
            state.keep(dead.snapshots, RANK, 0, 1);
            dead.copies.send(1, 2, RANK, 0, 1);
            to.next();
            to.copies.forget(0);
            state.keep(to.snapshots, RANK, 2, 1);
            to.copies.send(2, 3, RANK, 2, 1);
            assertEquals(new Copied(RANK, 2, 1), living.next()); // commands are taken in order: node 0 is forgotten
            state.keep(dead.snapshots, RANK, 0, 2);
            dead.copies.send(1, 2, RANK, 0, 2);
            await(() -> dead.copies.counters().sent() == 2, "it speaks still");
            state.keep(living.snapshots, RANK, 1, 3);
            living.copies.send(1, 2, RANK, 1, 3);
            assertEquals(new Copied(RANK, 1, 3), to.next());
            assertEquals(List.of(1L), to.snapshots.versions(RANK, 0));
        }
    }

    @Test
    void shouldHoldNobodyUpIfANodeNeverComes() throws InterruptedException {
        CopyingNode from = node(0);
        CopyingNode to = node(1);
        try (SampleState state = new SampleState(10)) {
            state.keep(from.snapshots, RANK, 0, 1);
            from.copies.send(2, 3, RANK, 0, 1);
            from.copies.send(1, 2, RANK, 0, 9);
            from.copies.send(1, 2, RANK, 3, 1);
            state.keep(from.snapshots, RANK, 1, 1);
            from.copies.send(1, 2, RANK, 1, 1);
            assertEquals(new Copied(RANK, 1, 1), to.next(), "the only one that is there");
        }
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        CopyingNode node = node(0);
        assertThrows(IllegalArgumentException.class, () -> node.copies.send(0, 1, RANK, 0, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> node.copies.send(3, 4, RANK, 0, 1));
        try (Snapshots snapshots = new Snapshots(false)) {
            NodeMap map = new NodeMap(0, List.of(0, 1),
                    List.of(new Endpoint("203.0.113.7", 40123), new Endpoint("localhost", 1)), Set.of());
            TransportException refusal = assertThrows(TransportException.class, () -> StreamedCopies.connect(map,
                    TransportSettings.defaults(), host.directory(), Optional.empty(), snapshots, (_, _, _) -> {
                    }));
            assertTrue(refusal.getMessage().contains("203.0.113.7:40123"), refusal.getMessage());
        }
    }
}
