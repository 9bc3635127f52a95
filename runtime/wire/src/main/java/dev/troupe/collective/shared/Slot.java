package dev.troupe.collective.shared;

import dev.troupe.collective.Call;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The state that one member shows to the others. */
final class Slot {
    /** The most bytes that a member copies, so that it need not wait until the others have read them. */
    static final int NOTE_BYTES = 16 << 10;

    /** The number of this member's arrivals. */
    volatile long arrivals;
    /** The member's thread if it sleeps or is about to; otherwise null. */
    volatile Thread sleeper;
    private final Turn[] turns = {new Turn(), new Turn()};

    /** A member's state for one collective, written before the member arrives and read after all have arrived. */
    static final class Turn {
        final Call call = new Call();
        final MemorySegment note = Arena.ofAuto().allocate(NOTE_BYTES, 64);
        Object left;
        MemorySegment source = MemorySegment.NULL;
        MemorySegment target = MemorySegment.NULL;
    }

    /**
     * Returns the turn of a collective. Two turns are enough: a member writes a turn again only after it met all others in
     * the next collective, so they have finished this one.
     */
    Turn turn(long sequence) {
        return turns[(int) (sequence & 1)];
    }
}
