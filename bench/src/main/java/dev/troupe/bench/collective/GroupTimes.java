package dev.troupe.bench.collective;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Reduction;
import dev.troupe.engine.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BiConsumer;

/** The times of every collective of a group at every size, measured by all members together. */
final class GroupTimes {
    static final List<String> COLLECTIVES = List.of("all-reduce", "reduce-scatter", "all-gather", "broadcast");
    /** The total sizes in bytes, multiples of every measured number of members. */
    static final List<Integer> SIZES = List.of(1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20);
    private static final long BYTES_OF_A_MEASURE = 128L << 20;
    private static final int LEAST_CALLS = 2;
    private static final int MOST_CALLS = 500;

    private GroupTimes() {
    }

    /** A measured case: a collective, its members and the size of the whole. */
    record Case(String collective, int members, int bytes) {
    }

    /** Returns the number of calls that are timed together, the same as in Gloo's script. */
    static int calls(int bytes) {
        return Math.clamp(BYTES_OF_A_MEASURE / bytes, LEAST_CALLS, MOST_CALLS);
    }

    /** Measures every collective once; {@code report} receives the seconds of one call. */
    static void measure(CollectiveGroup group, BiConsumer<Case, Double> report) {
        for (int bytes : SIZES) {
            try (Arena arena = Arena.ofShared()) {
                MemorySegment whole = arena.allocate(bytes, 64).fill((byte) 0);
                MemorySegment slice = arena.allocate(bytes / group.size(), 64).fill((byte) 0);
                for (String collective : COLLECTIVES) {
                    Runnable call = call(collective, group, whole, slice);
                    seconds(group, call, Math.max(LEAST_CALLS, calls(bytes) / 4));
                    report.accept(new Case(collective, group.size(), bytes), seconds(group, call, calls(bytes)));
                }
            }
        }
    }

    private static Runnable call(String collective, CollectiveGroup group, MemorySegment whole, MemorySegment slice) {
        return switch (collective) {
            case "all-reduce" -> () -> group.allReduce(whole, DataType.FLOAT32, Reduction.SUM);
            case "reduce-scatter" -> () -> group.reduceScatter(whole, slice, DataType.FLOAT32, Reduction.SUM);
            case "all-gather" -> () -> group.allGather(slice, whole);
            case "broadcast" -> () -> group.broadcast(whole, 0);
            default -> throw new IllegalArgumentException("there is no collective " + collective);
        };
    }

    /**
     * Returns the seconds of one call: the time between two barriers, divided by the number of calls. The barriers keep the
     * work of a slower member before the first call out of the time.
     */
    private static double seconds(CollectiveGroup group, Runnable call, int calls) {
        group.barrier();
        long start = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            call.run();
        }
        group.barrier();
        return (System.nanoTime() - start) / 1e9 / calls;
    }

    /** Returns the seconds of a plain copy of {@code bytes} by one thread. */
    static double copySeconds(int bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocate(bytes, 64).fill((byte) 1);
            MemorySegment target = arena.allocate(bytes, 64).fill((byte) 0);
            int calls = calls(bytes);
            for (int i = 0; i < calls / 4 + 1; i++) {
                target.copyFrom(source);
            }
            long start = System.nanoTime();
            for (int i = 0; i < calls; i++) {
                target.copyFrom(source);
            }
            return (System.nanoTime() - start) / 1e9 / calls;
        }
    }
}
