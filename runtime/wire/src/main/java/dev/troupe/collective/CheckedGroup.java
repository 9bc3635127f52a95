package dev.troupe.collective;

import dev.troupe.engine.DataType;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/** The base of all groups, which checks arguments and counts sent bytes. */
public abstract class CheckedGroup implements CollectiveGroup {
    private static final Thread ANOTHER_THREAD = Thread.ofPlatform().unstarted(() -> {
    });

    private final int size;
    private final int member;
    private final Call call = new Call();
    private final AtomicLong bytesSent = new AtomicLong();

    /** Creates the end of {@code member} in a group of {@code size} members. */
    protected CheckedGroup(int size, int member) {
        this.size = size;
        this.member = Objects.checkIndex(member, size);
    }

    /**
     * Performs a collective.
     *
     * @param call the collective and its sizes; the object is reused
     * @param source this member's bytes; equal to {@code target} for a broadcast and an all-reduce
     */
    protected abstract void perform(Call call, MemorySegment source, MemorySegment target);

    @Override
    public final int size() {
        return size;
    }

    @Override
    public final int member() {
        return member;
    }

    @Override
    public final long bytesSent() {
        return bytesSent.get();
    }

    @Override
    public final void allReduce(MemorySegment values, DataType type, Reduction reduction) {
        requireNative(values);
        BlockReduction.require(type, reduction, values.byteSize());
        call.reduce(Collective.ALL_REDUCE, type, reduction, values.byteSize());
        perform(call, values, values);
        long ofOthers = values.byteSize() - Shares.length(values.byteSize(), size, member);
        count(sent(ofOthers, reduction) + ofOthers);
    }

    @Override
    public final void reduceScatter(MemorySegment whole, MemorySegment slice, DataType type, Reduction reduction) {
        requireSlices(whole, slice);
        BlockReduction.require(type, reduction, slice.byteSize());
        call.reduce(Collective.REDUCE_SCATTER, type, reduction, whole.byteSize());
        perform(call, whole, slice);
        count(sent(whole.byteSize() - slice.byteSize(), reduction));
    }

    private static long sent(long addendBytes, Reduction reduction) {
        return switch (reduction) {
            case SUM, TREE_SUM, MAXIMUM -> addendBytes;
            case SUM_OF_ROUNDED -> addendBytes / 2;
        };
    }

    @Override
    public final void allGather(MemorySegment slice, MemorySegment whole) {
        requireSlices(whole, slice);
        call.allGather(whole.byteSize());
        perform(call, slice, whole);
        count(whole.byteSize() - slice.byteSize());
    }

    @Override
    public final void allToAll(MemorySegment source, MemorySegment target, long[][] parts) {
        requireNative(source);
        requireNative(target);
        call.allToAll(parts);
        long sent = call.sourceOffset(member, size);
        long taken = call.targetOffset(size, member);
        if (sent > source.byteSize() || taken > target.byteSize()) {
            throw new IllegalArgumentException("member " + member + " of " + size + " has " + sent
                    + " bytes to send and " + taken + " to take, but found memory of " + source.byteSize() + " and "
                    + target.byteSize() + " bytes");
        }
        perform(call, source.asSlice(0, sent), target.asSlice(0, taken));
        count(sent - call.part(member, member));
    }

    @Override
    public final void broadcast(MemorySegment values, int root) {
        requireNative(values);
        Objects.checkIndex(root, size);
        call.broadcast(values.byteSize(), root);
        perform(call, values, values);
        count(root == member ? (size - 1) * values.byteSize() : 0);
    }

    @Override
    public final void barrier() {
        call.barrier();
        perform(call, MemorySegment.NULL, MemorySegment.NULL);
    }

    protected final void count(long bytes) {
        bytesSent.addAndGet(bytes);
    }

    private void requireSlices(MemorySegment whole, MemorySegment slice) {
        requireNative(whole);
        requireNative(slice);
        if (slice.byteSize() * size != whole.byteSize()) {
            throw new IllegalArgumentException("a whole of " + size + " slices of " + slice.byteSize()
                    + " bytes was expected to have " + slice.byteSize() * size + " bytes, but found "
                    + whole.byteSize());
        }
    }

    private static void requireNative(MemorySegment memory) {
        if (!memory.isNative() || !memory.isAccessibleBy(ANOTHER_THREAD)) {
            throw new IllegalArgumentException(
                    "a collective works on native memory that every thread may use, but found " + memory);
        }
    }
}
