package dev.troupe.collective;

import dev.troupe.engine.DataType;
import java.util.Arrays;
import java.util.Locale;

/**
 * A member's call of a collective: the parameters that must be equal for all members. The object is reused, so that a
 * collective allocates nothing. Not thread-safe.
 */
public final class Call {
    private static final int NO_ROOT = -1;
    /** Odd and without a pattern: 2^64 over the golden ratio. */
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private Collective collective = Collective.BARRIER;
    /** Null if elements have no type. */
    private DataType type;
    /** Null for collectives other than reductions. */
    private Reduction reduction;
    private long bytes;
    /** For an all-to-all a digest of its parts, so that members with different ones find out. */
    private int root = NO_ROOT;
    /** The bytes from each member to each, of an all-to-all of this member. */
    private long[][] parts = {};

    /** Sets an all-reduce of {@code bytes}, or a reduce-scatter of {@code bytes} in total. */
    public void reduce(Collective what, DataType elements, Reduction how, long byteCount) {
        set(what, elements, how, byteCount, NO_ROOT);
    }

    /** Sets an all-gather of {@code bytes} in total. */
    public void allGather(long byteCount) {
        set(Collective.ALL_GATHER, null, null, byteCount, NO_ROOT);
    }

    public void broadcast(long byteCount, int from) {
        set(Collective.BROADCAST, null, null, byteCount, from);
    }

    public void barrier() {
        set(Collective.BARRIER, null, null, 0, NO_ROOT);
    }

    /** Sets an exchange of objects, after which members move {@code bytes} by themselves. */
    public void exchange(long byteCount) {
        set(Collective.EXCHANGE, null, null, byteCount, NO_ROOT);
    }

    /**
     * Sets an all-to-all.
     *
     * @param ofMembers [size][size]: the bytes from each member to each
     */
    public void allToAll(long[][] ofMembers) {
        allToAll(Arrays.stream(ofMembers).flatMapToLong(Arrays::stream).sum(), digest(ofMembers));
        parts = ofMembers;
    }

    /** Of sums of products with small factors, as of {@link Arrays#deepHashCode}, similar parts have the same. */
    private static int digest(long[][] ofMembers) {
        long digest = 0;
        for (long[] from : ofMembers) {
            for (long part : from) {
                digest = (digest ^ part) * MIX;
                digest ^= digest >>> Integer.SIZE;
            }
        }
        return (int) digest;
    }

    /** Sets an all-to-all of another member by its bytes in total and the digest of its parts. */
    public void allToAll(long byteCount, int digest) {
        set(Collective.ALL_TO_ALL, null, null, byteCount, digest);
    }

    /** Copies another call, without its parts. */
    public void set(Call other) {
        set(other.collective, other.type, other.reduction, other.bytes, other.root);
    }

    private void set(Collective what, DataType elements, Reduction how, long byteCount, int from) {
        collective = what;
        type = elements;
        reduction = how;
        bytes = byteCount;
        root = from;
    }

    public Collective collective() {
        return collective;
    }

    public DataType type() {
        return type;
    }

    public Reduction reduction() {
        return reduction;
    }

    /** Returns the total bytes that are reduced, gathered or broadcast. */
    public long bytes() {
        return bytes;
    }

    public int root() {
        return root;
    }

    /** Returns the bytes from one member to another. */
    public long part(int from, int to) {
        return parts[from][to];
    }

    /** Returns the first byte of a part in the memory of its sender. */
    public long sourceOffset(int from, int to) {
        long offset = 0;
        for (int member = 0; member < to; member++) {
            offset += parts[from][member];
        }
        return offset;
    }

    /** Returns the first byte of a part in the memory of its receiver. */
    public long targetOffset(int from, int to) {
        long offset = 0;
        for (int member = 0; member < from; member++) {
            offset += parts[member][to];
        }
        return offset;
    }

    /** Returns whether two members make the same call. */
    public boolean matches(Call other) {
        return collective == other.collective && type == other.type && reduction == other.reduction
                && bytes == other.bytes && root == other.root;
    }

    /** Such as {@code all-reduce of 4,096 bytes (FLOAT32, sum)}. */
    @Override
    public String toString() {
        return switch (collective) {
            case ALL_REDUCE, REDUCE_SCATTER -> String.format(Locale.ROOT, "%s of %,d bytes (%s, %s)",
                    collective.word(), bytes, type, reduction.word());
            case ALL_GATHER, EXCHANGE, ALL_TO_ALL ->
                String.format(Locale.ROOT, "%s of %,d bytes", collective.word(), bytes);
            case BROADCAST -> String.format(Locale.ROOT, "%s of %,d bytes from member %d", collective.word(), bytes,
                    root);
            case BARRIER -> collective.word();
        };
    }
}
