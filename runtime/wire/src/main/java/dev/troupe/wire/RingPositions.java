package dev.troupe.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The positions of a writer and a reader in a ring, as counts of bytes since its creation. The reader publishes its position
 * in eight bytes of memory that both processes see.
 *
 * <p>Thread rule: each process has its own object, for one thread.
 */
public final class RingPositions {
    /** Payloads begin at multiples of these bytes. */
    public static final int UNIT_BYTES = 64;
    private static final VarHandle POSITION = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment shared;
    private final long capacity;
    /**
     * The position of this side: the end of the last written payload, or of the last payload that a received frame has
     * named.
     */
    private long position;
    /** The position up to which the reader has freed space. */
    private long freed;

    /**
     * Creates the positions of an empty ring.
     *
     * @param shared memory that both processes see, beginning with eight zero bytes
     * @param capacity bytes, a multiple of {@link #UNIT_BYTES}
     */
    public RingPositions(MemorySegment shared, long capacity) {
        this.shared = shared;
        this.capacity = capacity;
    }

    /** Returns the bytes that can be written now in one piece: {@code wanted}, or fewer in whole units, or 0. */
    public int room(int wanted) {
        long read = (long) POSITION.getAcquire(shared, 0L);
        long free = Math.min(capacity - (position - read), capacity - position % capacity);
        return (int) Math.min(wanted, free);
    }

    /** Returns the offset in the ring of the next payload. */
    public long start() {
        return position % capacity;
    }

    public long position() {
        return position;
    }

    /** Marks the next payload as written; returns the position after it, for its frame. */
    public long advance(int length) {
        position += units(length);
        return position;
    }

    /** Takes back the payloads from a position on, which no frame has named. */
    public void retreat(long to) {
        position = to;
    }

    /** Returns whether a frame may name a payload with this end and length next. */
    public boolean holds(long end, int length) {
        long start = end - units(length);
        return isAhead(end) && end % UNIT_BYTES == 0 && start >= position
                && start % capacity + length <= capacity;
    }

    private boolean isAhead(long end) {
        return end > position && end - freed <= capacity;
    }

    /** Returns the offset in the ring of a payload that it {@link #holds}. */
    public long start(long end, int length) {
        return (end - units(length)) % capacity;
    }

    /** Advances to the end of the last payload that a frame has named; returns false if no payload can end there. */
    public boolean advanceTo(long end) {
        if (!isAhead(end)) {
            return false;
        }
        position = end;
        return true;
    }

    /** Frees the space of all payloads up to a position, after frames have named them. */
    public void free(long end) {
        freed = end;
        POSITION.setRelease(shared, 0L, end);
    }

    private static long units(int length) {
        return (length + UNIT_BYTES - 1L) / UNIT_BYTES * UNIT_BYTES;
    }
}
