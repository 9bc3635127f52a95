package dev.troupe.collective;

import dev.troupe.engine.DataType;
import java.util.Locale;

/**
 * The call of a member: the parts that must be the same for every member. It is reused from call to call, so that a
 * collective allocates nothing. Not safe for threads by itself.
 */
public final class Call {
    private static final int NO_ROOT = -1;

    private Collective collective = Collective.BARRIER;
    /** Null if elements have no type. */
    private DataType type;
    /** Null if the collective is no reduction. */
    private Reduction reduction;
    private long bytes;
    private int root = NO_ROOT;

    /** Makes this an all-reduce, or a reduce-scatter of a whole of {@code bytes}. */
    public void reduce(Collective what, DataType elements, Reduction how, long byteCount) {
        set(what, elements, how, byteCount, NO_ROOT);
    }

    /** Makes this an all-gather of a whole of {@code bytes}. */
    public void allGather(long byteCount) {
        set(Collective.ALL_GATHER, null, null, byteCount, NO_ROOT);
    }

    /** Makes this a broadcast. */
    public void broadcast(long byteCount, int from) {
        set(Collective.BROADCAST, null, null, byteCount, from);
    }

    /** Makes this a barrier. */
    public void barrier() {
        set(Collective.BARRIER, null, null, 0, NO_ROOT);
    }

    /** Makes this an exchange of objects, with {@code bytes} that the members move by themselves. */
    public void exchange(long byteCount) {
        set(Collective.EXCHANGE, null, null, byteCount, NO_ROOT);
    }

    /** Makes this the same as another. */
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

    /** The type of the elements of a reduction. */
    public DataType type() {
        return type;
    }

    public Reduction reduction() {
        return reduction;
    }

    /** Bytes of the whole that is reduced, gathered or broadcast. */
    public long bytes() {
        return bytes;
    }

    public int root() {
        return root;
    }

    /** Whether two members make the same call. */
    public boolean matches(Call other) {
        return collective == other.collective && type == other.type && reduction == other.reduction
                && bytes == other.bytes && root == other.root;
    }

    /** The call as a message names it: {@code all-reduce of 4,096 bytes (FLOAT32, sum)}. */
    @Override
    public String toString() {
        return switch (collective) {
            case ALL_REDUCE, REDUCE_SCATTER -> String.format(Locale.ROOT, "%s of %,d bytes (%s, %s)",
                    collective.word(), bytes, type, reduction.word());
            case ALL_GATHER, EXCHANGE -> String.format(Locale.ROOT, "%s of %,d bytes", collective.word(), bytes);
            case BROADCAST -> String.format(Locale.ROOT, "%s of %,d bytes from member %d", collective.word(), bytes,
                    root);
            case BARRIER -> collective.word();
        };
    }
}
