package dev.troupe.collective;

/** Which bytes of a whole are each member's to reduce. */
public final class Shares {
    /** Shares begin on lines of the cache, if the whole does: no two members then write to one line. */
    private static final int LINE_BYTES = 64;

    private Shares() {
    }

    /** Where the share of a member begins; that of {@code size} is the end of the whole. */
    public static long start(long bytes, int size, int member) {
        long lines = (bytes + LINE_BYTES - 1) / LINE_BYTES;
        long firstLine = lines / size * member + Math.min(member, lines % size);
        return Math.min(firstLine * LINE_BYTES, bytes);
    }

    /** Bytes of a member's share; 0 where there are fewer lines than members. */
    public static long length(long bytes, int size, int member) {
        return start(bytes, size, member + 1) - start(bytes, size, member);
    }
}
