package dev.troupe.schedule;

import java.util.List;

/**
 * The encoding of an {@link Action} in one {@code long}: stage, microbatch, kind, and whether it makes a pair with the next
 * action of its row. The version of the weights is not encoded. A stage has 26 bits, a kind 5, a microbatch or step 31; all
 * 31 are set if the action has neither.
 */
public final class PackedAction {
    private static final List<Kind> KINDS = List.of(Kind.values());
    private static final int STAGE_SHIFT = 37;
    private static final int KIND_SHIFT = 32;
    private static final int KIND_MASK = 31;
    private static final long PAIR = 1L << 31;
    private static final long MICROBATCH_MASK = PAIR - 1;

    private PackedAction() {
    }

    /** Returns the number of an action that makes no pair. */
    public static long pack(int stage, Kind kind, int microbatch) {
        return pack(stage, kind, microbatch, false);
    }

    /** Returns the number of an action; {@code pair} if it overlaps with the next one of its row. */
    public static long pack(int stage, Kind kind, int microbatch, boolean pair) {
        return (long) stage << STAGE_SHIFT | (long) kind.ordinal() << KIND_SHIFT | (pair ? PAIR : 0)
                | microbatch & MICROBATCH_MASK;
    }

    public static int stage(long packed) {
        return (int) (packed >>> STAGE_SHIFT);
    }

    public static Kind kind(long packed) {
        return KINDS.get((int) (packed >>> KIND_SHIFT) & KIND_MASK);
    }

    /** Returns the microbatch of a packed action, or its step; 2^31 - 1 if the action has neither. */
    public static int microbatch(long packed) {
        return (int) (packed & MICROBATCH_MASK);
    }

    /** Returns whether a packed action makes a pair with the next one of its row. */
    public static boolean isPair(long packed) {
        return (packed & PAIR) != 0;
    }

    /** Returns the action as an object that names no version of the weights. */
    public static Action unpack(long packed) {
        int number = microbatch(packed);
        return new Action(stage(packed), kind(packed), number == MICROBATCH_MASK ? Action.WHOLE_STEP : number);
    }
}
