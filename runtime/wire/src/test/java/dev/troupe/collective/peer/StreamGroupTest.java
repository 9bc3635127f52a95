package dev.troupe.collective.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Crowd;
import dev.troupe.collective.GroupContract;
import dev.troupe.collective.Membership;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.link.LinkTransport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("real")
class StreamGroupTest extends GroupContract {
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final List<CollectiveGroup> open = Collections.synchronizedList(new ArrayList<>());
    private LinkTransport transport;
    private PeerCollectives collectives;
    private int groups;

    @BeforeEach
    void startDriver() {
        transport = LinkTransport.start(NodeMap.single(1), TransportSettings.defaults());
        collectives = PeerCollectives.connect(transport.driverDirectory());
    }

    @AfterEach
    void stopDriver() {
        open.forEach(CollectiveGroup::close);
        collectives.close();
        transport.close();
    }

    @Override
    protected List<CollectiveGroup> members(int size, Duration deadline) {
        int number = groups++;
        return IntStream.range(0, size).mapToObj(member -> join(size, deadline, number, member, 0)).toList();
    }

    private CollectiveGroup join(int size, Duration deadline, int number, int member, int epoch) {
        Membership membership = new Membership("tensor", IntStream.range(10, 10 + size).boxed().toList(), deadline);
        CollectiveGroup joined = collectives.join(membership, number, member, epoch);
        open.add(joined);
        return joined;
    }

    @Test
    void shouldNameTheMemberThatNeverJoined() {
        CollectiveException failure = assertThrows(CollectiveException.class,
                join(2, Duration.ofMillis(300), 100, 0, 0)::barrier);
        assertTrue(failure.getMessage().contains("member 1 (rank 11) did not come within 0.300 s"),
                failure.getMessage());
        assertEquals(OptionalInt.of(1), failure.culprit());
    }

    @Tag("long")
    @Test
    void shouldWaitForAMemberThatComesLongAfterTheOthersHaveMet() {
        int size = 3;
        CountDownLatch late = new CountDownLatch(1);
        // As many frames as fit a stream several times over, if those who wait repeated themselves every time they look.
        CompletableFuture.delayedExecutor(9, TimeUnit.SECONDS).execute(late::countDown);
        Crowd.play(List.of(0, 1, 2), member -> {
            if (member == 2) {
                late.await();
            }
            join(size, DEADLINE, 104, member, 0).barrier();
        });
    }

    @Test
    void shouldRefuseAMemberOfAnEarlierEpoch() {
        List<CollectiveGroup> members = List.of(join(2, DEADLINE, 101, 0, 3), join(2, DEADLINE, 101, 1, 4));
        List<Throwable> failures = Crowd.failures(members, group -> {
            try {
                group.barrier();
            } finally {
                members.get(1).close(); // which waits for somebody of its epoch
            }
        });
        String sentence = assertInstanceOf(CollectiveException.class, failures.getFirst()).getMessage();
        assertTrue(sentence.contains("epoch 3") && sentence.endsWith("epoch 4 has begun"), sentence);
        assertInstanceOf(CollectiveException.class, failures.get(1));
    }

    @Test
    void shouldWorkAgainInTheNextEpoch() {
        for (int epoch = 0; epoch < 3; epoch++) {
            int present = epoch;
            Crowd.play(List.of(0, 1, 2), member -> {
                CollectiveGroup group = join(3, DEADLINE, 102, member, present);
                group.barrier();
                if (member == present) {
                    group.close();
                }
            });
        }
    }

    @Test
    void shouldEndTheOthersOfAnEpochWhenAMemberBeginsTheNext() {
        List<Throwable> failures = Crowd.failures(List.of(0, 1), member -> {
            CollectiveGroup group = join(2, DEADLINE, 103, member, 0);
            group.barrier();
            if (member == 0) {
                group.barrier();
            } else {
                join(2, Duration.ofSeconds(1), 103, member, 1).barrier();
            }
        });
        String sentence = assertInstanceOf(CollectiveException.class, failures.getFirst()).getMessage();
        assertTrue(sentence.endsWith("epoch 1 has begun"), sentence);
    }

    /** The last frame of a member that leaves has to wait for the room that the others make. */
    @Test
    void shouldReportItsEndOnAFullStream() throws InterruptedException {
        List<CollectiveGroup> members = members(2, DEADLINE);
        Crowd.play(members, CollectiveGroup::barrier);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment all = arena.allocate(8 << 20, 64);
            Thread sending = Thread.ofPlatform().start(() -> assertThrows(CollectiveException.class,
                    () -> members.getFirst().broadcast(all, 0)));
            awaitState(sending, Thread.State.TIMED_WAITING); // nobody reads, so it waits for room
            Thread leaving = Thread.ofPlatform().start(members.getFirst()::close);
            awaitState(leaving, Thread.State.BLOCKED);
            CollectiveException failure = assertThrows(CollectiveException.class,
                    () -> members.get(1).broadcast(arena.allocate(8 << 20, 64), 0));
            assertTrue(failure.getMessage().endsWith("member 0 (rank 10) has left"), failure.getMessage());
            leaving.join();
            sending.join();
        }
    }

    private static void awaitState(Thread thread, Thread.State state) {
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (thread.getState() != state) {
            assertTrue(System.nanoTime() < deadline, thread + " is " + thread.getState());
            Thread.onSpinWait();
        }
    }
}
