package dev.troupe.transport.tcp;

import java.util.concurrent.TimeUnit;

/**
 * The times at which an idle connection sends a few bytes after its last frame. If a network loses the last packets, TCP
 * learns of it by an acknowledgement of later ones and sends them again at once; without later ones it waits for its timer,
 * of 200 ms at least (RFC 8985, section 7, shortens that if more than one packet is in flight). A nudge may be lost too, or
 * wait in the kernel after a long message, so several follow, each after four times the pause.
 *
 * <p>Thread rule: one thread.
 */
final class Nudges {
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(128);
    private static final int GROWTH = 4;
    private static final int UNKNOWN = -1;

    private long frames = UNKNOWN;
    private long pauseNanos;
    private long dueNanos;
    private boolean isOver = true;

    /** Returns whether one is to be sent now, and counts it as sent. */
    boolean isDue(long nowNanos) {
        if (isOver || nowNanos - dueNanos < 0) {
            return false;
        }
        pauseNanos *= GROWTH;
        dueNanos = nowNanos + pauseNanos;
        isOver = pauseNanos > LONGEST_PAUSE_NANOS;
        return true;
    }

    /**
     * The kernel has all bytes: returns the time until the next nudge, or the longest time if none follows.
     *
     * @param written the frames that were written until now; a new one serves those before it as a nudge
     */
    long nanosUntilDue(long written, long nowNanos) {
        if (written != frames) {
            frames = written;
            pauseNanos = FIRST_PAUSE_NANOS;
            dueNanos = nowNanos + pauseNanos;
            isOver = false;
        }
        return isOver ? Long.MAX_VALUE : dueNanos - nowNanos;
    }

    /** Bytes wait for room in the kernel: the pauses begin again when it has all. */
    void startAgain() {
        frames = UNKNOWN;
        isOver = true;
    }
}
