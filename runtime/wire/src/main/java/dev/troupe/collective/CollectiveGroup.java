package dev.troupe.collective;

import dev.troupe.engine.DataType;
import java.lang.foreign.MemorySegment;

/**
 * One member's end of a process group, over host memory. All members call the same collectives in the same order with the
 * same sizes.
 *
 * <p>Sums add members in the order 0, 1, 2 ..., in the type of the elements, so all members get the same bits, in every run
 * and implementation. ({@link Reduction#SUM_OF_ROUNDED} rounds each member's values once, and adds in float32; {@link
 * Reduction#TREE_SUM} has another order.) Memory is
 * native, accessible by every thread, of any alignment, in native byte order. It may be reused after the call.
 *
 * <p>Thread rule: one thread at a time, blocked until this member's part is done; any thread for {@link #close} and {@link
 * #bytesSent}.
 *
 * <p>A call throws {@link CollectiveException} if a member missed the deadline, has left or made another call, or a later
 * epoch has begun. The group has then ended for all members in this epoch. The memory of the call has undefined content, and
 * another member may still write to it: it may only be closed.
 */
public interface CollectiveGroup extends AutoCloseable {
    /** Returns the number of members, at least 1. */
    int size();

    /** Returns this member's index, 0 .. {@link #size} - 1. */
    int member();

    /**
     * Replaces every member's elements by their reduction over all members.
     *
     * @param type a type of floats
     */
    void allReduce(MemorySegment values, DataType type, Reduction reduction);

    /**
     * Each member gets one slice of the reduction: elements {@code member k .. (member + 1) k - 1}.
     *
     * @param whole [k size] elements, not changed
     * @param slice [k] elements, overwritten; disjoint from {@code whole}, or this member's slice of it
     * @param type a type of floats
     */
    void reduceScatter(MemorySegment whole, MemorySegment slice, DataType type, Reduction reduction);

    /**
     * Gives every member the slices of all members, in their order.
     *
     * @param slice [k] bytes; disjoint from {@code whole}, or this member's slice of it
     * @param whole [k size] bytes, overwritten
     */
    void allGather(MemorySegment slice, MemorySegment whole);

    /**
     * Gives each member its part of every member's bytes.
     *
     * @param source this member's parts for members 0, 1, 2 ..., one after another; further bytes are not read
     * @param target overwritten with the parts of members 0, 1, 2 ... for this one, one after another; further bytes are
     *     left as they are. Disjoint from {@code source}
     * @param parts [size][size]: the bytes from each member to each, equal for all members
     */
    void allToAll(MemorySegment source, MemorySegment target, long[][] parts);

    /** Copies the root's bytes to every member. */
    void broadcast(MemorySegment values, int root);

    /** Returns whether all members are threads of this process, so that they may {@link #exchange}. */
    default boolean sharesProcess() {
        return false;
    }

    /**
     * Gives every member the objects of all members, which share a process and move values by themselves.
     *
     * @param all [size], overwritten in the order of members
     * @param whole the bytes that each member's values have in total; equal for all
     * @param sent this member's bytes for {@link #bytesSent}
     */
    default void exchange(Object own, Object[] all, long whole, long sent) {
        throw new UnsupportedOperationException("the members of this group do not share a process");
    }

    /** Returns after every member has called it. */
    void barrier();

    /**
     * Returns the bytes that this member has sent so far, counted as a ring would send them. An all-reduce counts all bytes
     * but the member's share, twice. A reduce-scatter or an all-gather counts all but the slice, and half of that for sums
     * of rounded values. An all-to-all counts the parts for other members. A broadcast counts its bytes once for each other
     * member, at the root.
     */
    long bytesSent();

    /** Leaves the group; members that call or wait get an error at once. Closing twice has no effect. */
    @Override
    void close();
}
