package dev.troupe.protocol;

import java.util.Objects;

/**
 * A channel from one rank to another on which messages keep their order and credits are counted.
 *
 * @param fromRank the rank that sends, 0 to {@value #MAX_INDEX}
 * @param toRank the rank that receives and grants the credits, 0 to {@value #MAX_INDEX}; may equal {@code fromRank}
 * @param stage the stage that will consume the messages, 0 to {@value #MAX_INDEX}
 */
public record Edge(int fromRank, int toRank, int stage, MessageKind kind) {
    /** The largest rank or stage, so that an edge packs into one {@code long} and a look-up allocates nothing. */
    public static final int MAX_INDEX = 0xFFFF;

    public Edge {
        checkIndex("fromRank", fromRank);
        checkIndex("toRank", toRank);
        checkIndex("stage", stage);
        Objects.requireNonNull(kind, "kind");
    }

    private static void checkIndex(String name, int value) {
        if (value < 0 || value > MAX_INDEX) {
            throw new IllegalArgumentException(
                    "the " + name + " of an edge must be 0 to " + MAX_INDEX + ", but found " + value);
        }
    }

    /** Returns the edge as a number: 16 bits each of sender, receiver and stage, 8 of kind. */
    public long key() {
        return key(fromRank, toRank, stage, kind);
    }

    /** Returns the {@link #key()} of an edge without making it. */
    public static long key(int fromRank, int toRank, int stage, MessageKind kind) {
        return (long) fromRank << 40 | (long) toRank << 24 | (long) stage << 8 | kind.code();
    }

    /** Such as {@code rank 0 -> rank 1, stage 1, ACTIVATION}. */
    @Override
    public String toString() {
        return "rank " + fromRank + " -> rank " + toRank + ", stage " + stage + ", " + kind;
    }
}
