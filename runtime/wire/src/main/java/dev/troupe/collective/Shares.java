package dev.troupe.collective;

/** The division of bytes into the shares that members reduce. */
public final class Shares {
    /** Shares begin on cache lines, so that no two members write to one line. */
    private static final int LINE_BYTES = 64;

    private Shares() {
    }

    /** Returns the first byte of a member's share; for {@code size}, the end of the last. */
    public static long start(long bytes, int size, int member) {
        long lines = (bytes + LINE_BYTES - 1) / LINE_BYTES;
        long firstLine = lines / size * member + Math.min(member, lines % size);
        return Math.min(firstLine * LINE_BYTES, bytes);
    }

    /** Returns the bytes of a member's share; 0 if there are fewer cache lines than members. */
    public static long length(long bytes, int size, int member) {
        return start(bytes, size, member + 1) - start(bytes, size, member);
    }
}
