package dev.troupe.collective;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.conformance.share.Dealt;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tests that every implementation of {@link CollectiveGroup} must pass. */
@Dealt(2)
public abstract class GroupContract {
    /** Around every block, line, note and frame there is, and a few that are none of them. */
    private static final int[] ELEMENTS = {0, 1, 2, 3, 15, 16, 17, 33, 129, 1000, 2047, 2049, 4096, 4097,
            9001, 20011};
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofMillis(1500);

    /** A group of members in epoch 0, ready to be called. */
    protected abstract List<CollectiveGroup> members(int size, Duration deadline);

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void shouldReduceInTheOrderOfMembersToTheLastBit(int size) {
        Crowd.play(members(size, LONG), group -> {
            for (int elements : ELEMENTS) {
                for (Reduction reduction : List.of(Reduction.SUM, Reduction.MAXIMUM)) {
                    for (DataType type : List.of(DataType.FLOAT32, DataType.FLOAT64)) {
                        requireReduced(group, elements, type, reduction);
                    }
                }
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5})
    void shouldRoundEachMembersValuesOnceAndAddThemUpInFloats(int size) {
        List<CollectiveGroup> members = members(size, LONG);
        Crowd.play(members, group -> {
            for (int elements : ELEMENTS) {
                requireReduced(group, elements, DataType.FLOAT32, Reduction.SUM_OF_ROUNDED);
            }
            requireReduced(group, 200_000, DataType.FLOAT32, Reduction.SUM_OF_ROUNDED);
            long before = group.bytesSent();
            try (Arena arena = Arena.ofShared()) {
                MemorySegment whole = arena.allocate(256L * size);
                group.reduceScatter(whole, arena.allocate(256), DataType.FLOAT32, Reduction.SUM_OF_ROUNDED);
                assertEquals(before + 128L * (size - 1), group.bytesSent(), "half of a reduce-scatter of float32");
                group.allReduce(whole, DataType.FLOAT32, Reduction.SUM_OF_ROUNDED);
                assertEquals(before + 128L * (size - 1) + (128L + 256L) * (size - 1), group.bytesSent(),
                        "sums travel whole");
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5})
    void shouldAddInABalancedTreeToTheLastBit(int size) {
        Crowd.play(members(size, LONG), group -> {
            for (int elements : ELEMENTS) {
                for (DataType type : List.of(DataType.FLOAT32, DataType.FLOAT64)) {
                    requireReduced(group, elements, type, Reduction.TREE_SUM);
                }
            }
        });
    }

    private static void requireReduced(CollectiveGroup group, int elements, DataType type, Reduction reduction) {
        int slice = elements / 5 + 1;
        try (Arena arena = Arena.ofShared()) {
            String what = reduction + " of " + elements + " " + type + " by " + group.size();
            MemorySegment values = Naive.values(arena, type, elements, group.member(), elements);
            group.allReduce(values, type, reduction);
            assertArrayEquals(Naive.reduced(type, elements, group.size(), elements, reduction), bytes(values), what);
            MemorySegment whole = Naive.values(arena, type, slice * group.size(), group.member(), 7);
            byte[] before = bytes(whole);
            MemorySegment part = arena.allocate(slice * (long) type.elementBytes());
            group.reduceScatter(whole, part, type, reduction);
            byte[] all = Naive.reduced(type, slice * group.size(), group.size(), 7, reduction);
            int bytes = (int) part.byteSize();
            assertArrayEquals(Arrays.copyOfRange(all, group.member() * bytes, (group.member() + 1) * bytes),
                    bytes(part), what);
            assertArrayEquals(before, bytes(whole), "a reduce-scatter leaves the whole as it is");
            group.reduceScatter(whole, whole.asSlice((long) group.member() * bytes, bytes), type, reduction);
            System.arraycopy(bytes(part), 0, before, group.member() * bytes, bytes);
            assertArrayEquals(before, bytes(whole), "a slice may be its own place in the whole");
        }
    }

    @Test
    void shouldReduceMoreThanItHoldsOnTheWay() {
        Crowd.play(members(3, LONG), group -> requireReduced(group, 400_000, DataType.FLOAT32, Reduction.SUM));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void shouldGatherAndSpreadEveryByte(int size) {
        Crowd.play(members(size, LONG), group -> {
            for (int bytes : ELEMENTS) {
                try (Arena arena = Arena.ofShared()) {
                    MemorySegment slice = Naive.bytes(arena, bytes, group.member());
                    MemorySegment whole = arena.allocate((long) bytes * group.size(), 1);
                    group.allGather(slice, whole);
                    for (int member = 0; member < group.size(); member++) {
                        assertArrayEquals(bytes(Naive.bytes(arena, bytes, member)),
                                bytes(whole.asSlice((long) member * bytes, bytes)));
                    }
                    MemorySegment place = whole.asSlice((long) group.member() * bytes, bytes);
                    group.allGather(place, whole);
                    for (int root = 0; root < group.size(); root++) {
                        MemorySegment values = Naive.bytes(arena, bytes, 100 + group.member());
                        group.broadcast(values, root);
                        assertArrayEquals(bytes(Naive.bytes(arena, bytes, 100 + root)), bytes(values));
                    }
                    assertArrayEquals(bytes(Naive.bytes(arena, bytes, 0)), bytes(whole.asSlice(0, bytes)),
                            "a slice may be its own place in the whole");
                }
                group.barrier();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void shouldGiveEachMemberItsPartOfEveryMembersBytes(int size) {
        Crowd.play(members(size, LONG), group -> {
            Random random = new Random(size);
            for (int most : new int[]{1, 100, 3000, 100_000, 2}) {
                AllToAll.require(group, AllToAll.parts(random, size, most));
            }
            // More than is held on the way, from one member to one alone.
            long[][] single = new long[size][size];
            single[0][size - 1] = 5 << 20;
            AllToAll.require(group, single);
            AllToAll.require(group, new long[size][size]);
        });
    }

    @Test
    void shouldRefuseDifferentPartsOfOneExchange() {
        List<Throwable> failures = Crowd.failures(members(2, SHORT), group -> {
            try (Arena arena = Arena.ofShared()) {
                long[][] parts = {{1, 2}, {3, 4}};
                if (group.member() == 1) {
                    parts = new long[][]{{1, 3}, {2, 4}};
                }
                group.allToAll(arena.allocate(7), arena.allocate(7), parts);
            }
        });
        failures.forEach(failure -> assertInstanceOf(CollectiveException.class, failure));
    }

    @Test
    void shouldGiveTheSameBitsInEveryMixOfCollectives() {
        long seed = Long.getLong("troupe.sweep.seed", 0); // which continuous integration sets to the number of the commit
        try {
            for (int size = 2; size <= 4; size++) {
                Crowd.play(members(size, LONG), group -> {
                    Random random = new Random(seed);
                    for (int round = 0; round < 60; round++) {
                        int elements = random.nextInt(4) == 0 ? random.nextInt(50_000) : random.nextInt(300);
                        switch (random.nextInt(4)) {
                            case 0 -> requireReduced(group, elements, DataType.FLOAT32, Reduction.SUM);
                            case 1 -> requireSpread(group, elements, random.nextInt(group.size()));
                            case 2 -> AllToAll.require(group, AllToAll.parts(random, group.size(), 1 + elements));
                            default -> group.barrier();
                        }
                    }
                });
            }
        } catch (AssertionError failure) {
            throw new AssertionError("seed " + seed, failure);
        }
    }

    private static void requireSpread(CollectiveGroup group, int bytes, int root) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment values = Naive.bytes(arena, bytes, group.member());
            group.broadcast(values, root);
            assertArrayEquals(bytes(Naive.bytes(arena, bytes, root)), bytes(values));
        }
    }

    @Test
    void shouldLetNobodyThroughABarrierBeforeAllHaveCome() throws Exception {
        List<CollectiveGroup> members = members(3, LONG);
        boolean[] hasCome = new boolean[3];
        Crowd.play(members, group -> {
            for (int round = 0; round < 200; round++) {
                hasCome[group.member()] = true;
                group.barrier();
                for (boolean come : hasCome) {
                    assertTrue(come);
                }
                group.barrier();
                hasCome[group.member()] = false;
                group.barrier();
            }
        });
    }

    @Test
    void shouldCountWhatARingWouldSend() {
        int size = 4;
        long bytes = 4 * 4096 * size;
        List<CollectiveGroup> members = members(size, LONG);
        Crowd.play(members, group -> {
            try (Arena arena = Arena.ofShared()) {
                MemorySegment whole = arena.allocate(bytes);
                MemorySegment slice = arena.allocate(bytes / size);
                group.allReduce(whole, DataType.FLOAT32, Reduction.SUM);
                assertEquals(2 * bytes * (size - 1) / size, group.bytesSent());
                group.reduceScatter(whole, slice, DataType.FLOAT32, Reduction.SUM);
                assertEquals(3 * bytes * (size - 1) / size, group.bytesSent());
                group.allGather(slice, whole);
                assertEquals(4 * bytes * (size - 1) / size, group.bytesSent());
                group.broadcast(whole, 1);
                group.barrier();
            }
        });
        assertEquals(4 * 4 * bytes * (size - 1) / size + (size - 1) * bytes,
                members.stream().mapToLong(CollectiveGroup::bytesSent).sum());
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 100_000})
    void shouldNameTheMemberThatNeverCame(int bytes) {
        List<CollectiveGroup> members = members(3, SHORT);
        List<Throwable> failures = Crowd.failures(members, group -> {
            group.barrier();
            if (group.member() != 1) {
                allReduce(group, bytes);
            }
        });
        assertNull(failures.get(1));
        for (int member : new int[]{0, 2}) {
            CollectiveException failure = assertInstanceOf(CollectiveException.class, failures.get(member));
            assertEquals(OptionalInt.of(1), failure.culprit());
            String sentence = failure.getMessage();
            assertTrue(sentence.contains("member 1 (rank 11) did not come within 1.50 s"), sentence);
            assertTrue(sentence.contains("member " + member + " (rank " + (10 + member) + ")"), sentence);
            assertTrue(sentence.contains("tensor group [10, 11, 12], epoch 0"), sentence);
            assertTrue(sentence.contains("collective 1, all-reduce of "), sentence);
        }
        assertThrows(CollectiveException.class, members.get(1)::barrier,
                "a member that comes late finds the group at its end");
    }

    @Test
    void shouldNameTheMemberThatHasLeftAtOnce() {
        List<CollectiveGroup> members = members(3, LONG);
        long start = System.nanoTime();
        List<Throwable> failures = Crowd.failures(members, group -> {
            group.barrier();
            if (group.member() == 2) {
                group.close();
                group.close();
            }
            allReduce(group, 400_000);
        });
        for (Throwable failure : failures) {
            String sentence = assertInstanceOf(CollectiveException.class, failure).getMessage();
            assertTrue(sentence.contains("member 2 (rank 12) has left"), sentence);
        }
        assertTrue(System.nanoTime() - start < LONG.toNanos() / 2, "nobody waited for the deadline");
    }

    @Test
    void shouldLetAMemberLeaveWhenAllHasBeenDone() {
        for (int round = 0; round < 20; round++) {
            Crowd.play(members(2, LONG), group -> {
                allReduce(group, 40);
                allReduce(group, 80_000);
                group.close();
            });
        }
    }

    @Test
    void shouldNameTheCallsThatDiffer() {
        requireDifferent("all-reduce of 40 bytes (FLOAT32, sum)", "all-reduce of 44 bytes (FLOAT32, sum)",
                group -> allReduce(group, 40), group -> allReduce(group, 44));
        requireDifferent("all-reduce of 400,000 bytes (FLOAT32, sum)", "barrier", group -> allReduce(group, 400_000),
                CollectiveGroup::barrier);
        requireDifferent("broadcast of 8 bytes from member 0", "broadcast of 8 bytes from member 1",
                group -> broadcast(group, 8, 0), group -> broadcast(group, 8, 1));
        requireDifferent("broadcast of 80,000 bytes from member 0", "all-reduce of 400,000 bytes (FLOAT32, sum)",
                group -> broadcast(group, 80_000, 0), group -> allReduce(group, 400_000));
    }

    private void requireDifferent(String first, String second, Crowd.Part<CollectiveGroup> usual,
            Crowd.Part<CollectiveGroup> other) {
        List<Throwable> failures = Crowd.failures(members(3, LONG),
                group -> (group.member() == 2 ? other : usual).play(group));
        assertTrue(failures.stream().anyMatch(failure -> failure instanceof CollectiveException
                && failure.getMessage().contains(") calls " + first) && failure.getMessage().contains(
                        "member 2 (rank 12) calls " + second)),
                failures::toString);
        failures.forEach(failure -> assertInstanceOf(CollectiveException.class, failure));
    }

    @Test
    void shouldEndTheWaitOfAnInterruptedMember() throws Exception {
        List<CollectiveGroup> members = members(2, LONG);
        CyclicBarrier started = new CyclicBarrier(2);
        Thread[] waiting = new Thread[1];
        Throwable[] thrown = new Throwable[1];
        boolean[] isStillInterrupted = new boolean[1];
        waiting[0] = Thread.ofPlatform().start(() -> {
            try {
                started.await();
                members.get(0).barrier();
            } catch (Exception failure) {
                thrown[0] = failure;
                isStillInterrupted[0] = Thread.currentThread().isInterrupted();
            }
        });
        started.await();
        waiting[0].interrupt();
        assertTrue(waiting[0].join(LONG));
        String sentence = assertInstanceOf(CollectiveException.class, thrown[0]).getMessage();
        assertTrue(sentence.contains("member 0 (rank 10) was interrupted"), sentence);
        assertTrue(isStillInterrupted[0]);
    }

    @Test
    void shouldRefuseMemoryThatDoesNotFit() {
        try (CollectiveGroup group = members(2, SHORT).getFirst(); Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(12);
            assertThrows(IllegalArgumentException.class,
                    () -> group.allReduce(memory, DataType.INT32, Reduction.SUM));
            assertThrows(IllegalArgumentException.class,
                    () -> group.allReduce(memory, DataType.FLOAT64, Reduction.SUM));
            assertThrows(IllegalArgumentException.class, () -> group.allGather(memory, memory));
            assertThrows(IllegalArgumentException.class,
                    () -> group.reduceScatter(memory, memory, DataType.FLOAT32, Reduction.SUM));
            assertThrows(IllegalArgumentException.class,
                    () -> group.broadcast(MemorySegment.ofArray(new int[1]), 0));
            assertThrows(IllegalArgumentException.class,
                    () -> group.broadcast(Arena.ofConfined().allocate(4), 0));
            assertThrows(IndexOutOfBoundsException.class, () -> group.broadcast(memory, 2));
        }
    }

    private static void allReduce(CollectiveGroup group, int bytes) {
        try (Arena arena = Arena.ofShared()) {
            group.allReduce(arena.allocate(bytes), DataType.FLOAT32, Reduction.SUM);
        }
    }

    private static void broadcast(CollectiveGroup group, int bytes, int root) {
        try (Arena arena = Arena.ofShared()) {
            group.broadcast(arena.allocate(bytes), root);
        }
    }

    private static byte[] bytes(MemorySegment memory) {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }
}
