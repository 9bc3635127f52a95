package dev.troupe.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The positions of a writer and a reader in a ring, wherever its payloads are: they count bytes from the beginning of time.
 * The reader's process writes its position back, in eight bytes of memory that both processes see.
 *
 * <p>Thread rule: each process has an object of its own, for one thread.
 */
public final class RingPositions {
    /** Payloads begin at multiples of these bytes. */
    public static final int UNIT_BYTES = 64;
    private static final VarHandle POSITION = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment shared;
    private final long capacity;
    /** The position up to which this side has written, or has read of payloads in frames. */
    private long position;
    /** The reader's: the position up to which it has given room back. */
    private long freed;

    /**
     * Of a ring in which nothing is written.
     *
     * @param shared memory that both processes see, which begins with eight bytes of zeros
     * @param capacity bytes, a multiple of {@link #UNIT_BYTES}
     */
    public RingPositions(MemorySegment shared, long capacity) {
        this.shared = shared;
        this.capacity = capacity;
    }

    /** Returns the bytes that can be written now in one piece: all that are wanted, or fewer in whole units, or 0. */
    public int room(int wanted) {
        long read = (long) POSITION.getAcquire(shared, 0L);
        long free = Math.min(capacity - (position - read), capacity - position % capacity);
        return (int) Math.min(wanted, free);
    }

    /** Returns the position in the ring of the next payload. */
    public long start() {
        return position % capacity;
    }

    /** Returns the position up to which this side has written, or has read of payloads in frames. */
    public long position() {
        return position;
    }

    /** Marks the next payload as written; returns the position after it, for its frame. */
    public long advance(int length) {
        position += units(length);
        return position;
    }

    /** Forgets payloads that begin at a position or after it: no frame has named them. */
    public void retreat(long to) {
        position = to;
    }

    /** Whether a payload that ends at a position is one that the writer can have written and a frame may name next. */
    public boolean holds(long end, int length) {
        long start = end - units(length);
        return isAhead(end) && end % UNIT_BYTES == 0 && start >= position
                && start % capacity + length <= capacity;
    }

    private boolean isAhead(long end) {
        return end > position && end - freed <= capacity;
    }

    /** Returns the position in the ring of a payload that it {@link #holds}. */
    public long start(long end, int length) {
        return (end - units(length)) % capacity;
    }

    /** Frames have named all payloads up to a position; returns false if none can end there. */
    public boolean told(long end) {
        if (!isAhead(end)) {
            return false;
        }
        position = end;
        return true;
    }

    /** Gives the room of all payloads up to a position back, after frames have {@link #told named} them. */
    public void free(long end) {
        freed = end;
        POSITION.setRelease(shared, 0L, end);
    }

    private static long units(int length) {
        return (length + UNIT_BYTES - 1L) / UNIT_BYTES * UNIT_BYTES;
    }
}
