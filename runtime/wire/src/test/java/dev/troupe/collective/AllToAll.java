package dev.troupe.collective;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;

/** One member's check of an all-to-all: every byte of a part follows from its sender and its receiver. */
final class AllToAll {
    private AllToAll() {
    }

    static long[][] parts(Random random, int size, int most) {
        long[][] parts = new long[size][size];
        for (long[] from : parts) {
            Arrays.setAll(from, _ -> random.nextInt(3) == 0 ? 0 : random.nextInt(most));
        }
        return parts;
    }

    static void require(CollectiveGroup group, long[][] parts) {
        int size = group.size();
        int member = group.member();
        try (Arena arena = Arena.ofShared()) {
            long sent = Arrays.stream(parts[member]).sum();
            long taken = Arrays.stream(parts).mapToLong(from -> from[member]).sum();
            MemorySegment source = arena.allocate(sent + 3, 1);
            MemorySegment target = arena.allocate(taken + 5, 1).fill((byte) 77);
            long next = 0;
            for (int to = 0; to < size; to++) {
                MemorySegment.copy(part(arena, parts, member, to), 0, source, next, parts[member][to]);
                next += parts[member][to];
            }
            long before = group.bytesSent();
            group.allToAll(source, target, parts);
            assertEquals(before + sent - parts[member][member], group.bytesSent());
            next = 0;
            for (int from = 0; from < size; from++) {
                assertArrayEquals(bytesOf(part(arena, parts, from, member)),
                        bytesOf(target.asSlice(next, parts[from][member])), "from " + from + " to " + member);
                next += parts[from][member];
            }
            assertArrayEquals(new byte[]{77, 77, 77, 77, 77}, bytesOf(target.asSlice(taken)));
        }
    }

    private static MemorySegment part(Arena arena, long[][] parts, int from, int to) {
        return Naive.bytes(arena, (int) parts[from][to], from * parts.length + to);
    }

    private static byte[] bytesOf(MemorySegment memory) {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }
}
