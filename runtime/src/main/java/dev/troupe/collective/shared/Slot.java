package dev.troupe.collective.shared;

import dev.troupe.collective.Call;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** What one member shows the others. */
final class Slot {
    /** Bytes up to which a member leaves a copy of its values, so that nobody need wait for the others to have read. */
    static final int NOTE_BYTES = 16 << 10;

    /** How often this member has arrived. */
    volatile long arrivals;
    /** The member's thread where it sleeps or is about to, else null. */
    volatile Thread sleeper;
    private final Turn[] turns = {new Turn(), new Turn()};

    /** What a member shows in one collective: it writes before it arrives, the others read when all have. */
    static final class Turn {
        final Call call = new Call();
        final MemorySegment note = Arena.ofAuto().allocate(NOTE_BYTES, 64);
        MemorySegment source = MemorySegment.NULL;
        MemorySegment target = MemorySegment.NULL;
    }

    /**
     * The turn of a collective. Two are enough: whoever writes that of the next but one has met all others at the next
     * one, so they are done with this one.
     */
    Turn turn(long sequence) {
        return turns[(int) (sequence & 1)];
    }
}
