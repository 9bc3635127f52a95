package dev.troupe.collective;

import dev.troupe.engine.DataType;
import java.util.Locale;

/**
 * What one member calls: all of it that must be the same for every member. Reused from call to call, so that a collective
 * allocates nothing. Not safe for threads by itself.
 */
public final class Call {
    private static final int NO_ROOT = -1;

    private Collective collective = Collective.BARRIER;
    /** Null where no element is looked at. */
    private DataType type;
    /** Null where nothing is reduced. */
    private Reduction reduction;
    private long bytes;
    private int root = NO_ROOT;

    /** Makes this a reduction: of an all-reduce, or with {@code bytes} those of the whole of a reduce-scatter. */
    public void reduce(Collective what, DataType elements, Reduction how, long byteCount) {
        set(what, elements, how, byteCount, NO_ROOT);
    }

    /** Makes this an all-gather of so many bytes in all. */
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

    /** Which collective it is. */
    public Collective collective() {
        return collective;
    }

    /** The type of the elements of a reduction. */
    public DataType type() {
        return type;
    }

    /** How a reduction reduces. */
    public Reduction reduction() {
        return reduction;
    }

    /** Bytes of the whole: what is reduced, gathered in the end, or spread. */
    public long bytes() {
        return bytes;
    }

    /** Who spreads. */
    public int root() {
        return root;
    }

    /** Whether two members call the same. */
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
            case ALL_GATHER -> String.format(Locale.ROOT, "%s of %,d bytes", collective.word(), bytes);
            case BROADCAST -> String.format(Locale.ROOT, "%s of %,d bytes from member %d", collective.word(), bytes,
                    root);
            case BARRIER -> collective.word();
        };
    }
}
