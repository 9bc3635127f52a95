package dev.troupe.collective;

import dev.troupe.engine.DataType;
import java.lang.foreign.MemorySegment;

/**
 * A process group from the side of one of its members, over host memory. Every member calls the same collectives in the same
 * order with the same sizes.
 *
 * <p>Sums add member 0, 1, 2 ... in this order, in the type of the elements (of {@link Reduction#SUM_OF_ROUNDED} in float32,
 * each member's values rounded once, its own too), so that all members get the same bits, on every run and from every
 * implementation. Memory is native, of any alignment, for every thread (not of a confined arena), its elements in the
 * machine's order of bytes; it may be used again when the call has returned.
 *
 * <p>Thread rule: one thread at a time, which the call blocks until this member's part is done; {@link #close} and
 * {@link #bytesSent} by any.
 *
 * <p>Every call throws {@link CollectiveException} when the group cannot do it: a member did not come within the deadline,
 * has left, called something else, or a later epoch has begun. The group has then ended for all its members in this epoch.
 * The memory of the call holds any content, and another member may still be writing to it: it must not be used for anything
 * else, only closed.
 */
public interface CollectiveGroup extends AutoCloseable {
    /** Members of the group, at least 1. */
    int size();

    /** This member's place in the group, 0 .. {@link #size} - 1. */
    int member();

    /**
     * Every member's elements become the reduction of them all, element by element.
     *
     * @param type a type of floats
     */
    void allReduce(MemorySegment values, DataType type, Reduction reduction);

    /**
     * Each member gets one slice of the reduction: elements {@code member k .. (member + 1) k - 1}.
     *
     * @param whole [k size] elements, which stay as they are
     * @param slice [k] elements, overwritten; apart from {@code whole}, or its own place there
     * @param type a type of floats
     */
    void reduceScatter(MemorySegment whole, MemorySegment slice, DataType type, Reduction reduction);

    /**
     * Every member gets the slices of all, one after another in the order of members.
     *
     * @param slice [k] bytes; apart from {@code whole}, or its own place there
     * @param whole [k size] bytes, overwritten
     */
    void allGather(MemorySegment slice, MemorySegment whole);

    /** Copies the root's bytes to every member. */
    void broadcast(MemorySegment values, int root);

    /** Whether all members are threads of this process, so that they may {@link #exchange}. */
    default boolean sharesProcess() {
        return false;
    }

    /**
     * Every member leaves an object, and gets the objects of all, if members share a process and move values by themselves.
     *
     * @param all [size], overwritten in the order of members
     * @param whole bytes of values of each member that they move after this; the same for all
     * @param sent bytes thereof for {@link #bytesSent}
     */
    default void exchange(Object own, Object[] all, long whole, long sent) {
        throw new UnsupportedOperationException("the members of this group do not share a process");
    }

    /** Returns when every member has called it. */
    void barrier();

    /**
     * Bytes of values that this member has sent so far, counted as a ring would send them, on any way: of an all-reduce
     * of n bytes, n less this member's share, twice; of a reduce-scatter or an all-gather, the whole less its slice (half of
     * it on the way to sums of rounded values); of a broadcast, its bytes once for each other member, at the root.
     */
    long bytesSent();

    /** Leaves the group: members that call or wait for it get an error at once. Closing twice has no effect. */
    @Override
    void close();
}
