package dev.troupe.collective.shared;

import dev.troupe.collective.Call;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The state that one member shares with the others. */
final class Slot {
    /** Bytes up to which a member leaves a copy of its values, so that it need not wait until the others have read them. */
    static final int NOTE_BYTES = 16 << 10;

    /** The number of this member's arrivals. */
    volatile long arrivals;
    /** The member's thread if it sleeps or is about to, else null. */
    volatile Thread sleeper;
    private final Turn[] turns = {new Turn(), new Turn()};

    /**
     * The state of a member for one collective: the member writes it before it arrives, the others read it when all
     * have arrived.
     */
    static final class Turn {
        final Call call = new Call();
        final MemorySegment note = Arena.ofAuto().allocate(NOTE_BYTES, 64);
        Object left;
        MemorySegment source = MemorySegment.NULL;
        MemorySegment target = MemorySegment.NULL;
    }

    /**
     * Returns the turn of a collective. Two turns are enough: a member that writes the turn of the next collective but
     * one has met all others in the next one, so they have finished this one.
     */
    Turn turn(long sequence) {
        return turns[(int) (sequence & 1)];
    }
}
