package dev.troupe.bench.hop;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Reduction;
import dev.troupe.engine.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * One of two members of a group, which call the same collective repeatedly. Member 0 measures, and sends the number of calls
 * to member 1.
 *
 * <p>Thread rule: one thread.
 */
final class GroupEnd implements Burst {
    private final CollectiveGroup group;
    private final Runnable release;
    private final Runnable call;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment calls = arena.allocate(ValueLayout.JAVA_LONG);

    /**
     * Allocates the values.
     *
     * @param group the group, closed with this object
     * @param bytes the total bytes that are reduced, gathered or sent
     * @param release the action after the group is closed
     */
    GroupEnd(CollectiveGroup group, String what, int bytes, Runnable release) {
        this.group = group;
        this.release = release;
        MemorySegment whole = arena.allocate(bytes, 64).fill((byte) 0);
        MemorySegment slice = arena.allocate(bytes / group.size(), 64).fill((byte) 0);
        this.call = switch (what) {
            case "all-reduce" -> () -> group.allReduce(whole, DataType.FLOAT32, Reduction.SUM);
            case "reduce-scatter" -> () -> group.reduceScatter(whole, slice, DataType.FLOAT32, Reduction.SUM);
            case "all-gather" -> () -> group.allGather(slice, whole);
            case "broadcast" -> () -> group.broadcast(whole, 0);
            default -> throw new IllegalArgumentException("there is no collective " + what);
        };
    }

    @Override
    public double seconds(int count) {
        calls.set(ValueLayout.JAVA_LONG, 0, count);
        group.broadcast(calls, 0);
        group.barrier();
        long start = System.nanoTime();
        play(count);
        return (System.nanoTime() - start) / 1e9;
    }

    private void play(long count) {
        for (long index = 0; index < count; index++) {
            call.run();
        }
        group.barrier();
    }

    /** Answers as member 1 until member 0 leaves. */
    void serve() {
        while (true) {
            group.broadcast(calls, 0);
            long count = calls.get(ValueLayout.JAVA_LONG, 0);
            if (count == 0) {
                return;
            }
            group.barrier();
            play(count);
        }
    }

    @Override
    public void close() {
        if (group.member() == 0) {
            calls.set(ValueLayout.JAVA_LONG, 0, 0);
            group.broadcast(calls, 0);
        }
        group.close();
        release.run();
        arena.close();
    }
}
