package dev.troupe.transport.tcp;

import java.util.concurrent.TimeUnit;

/**
 * The schedule of nudges: a few bytes that an idle connection sends after its last frame. If a network loses the last
 * packets, TCP detects the loss by the acknowledgement of later ones. Without later packets it waits for its timer, at least
 * 200 ms (RFC 8985, section 7, shortens that if several packets are in flight). A nudge may be lost too, or wait in the
 * kernel after a long message, so several follow, each after four times the previous pause.
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

    /** Returns whether a nudge is due, and counts it as sent. */
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
     * Returns the time until the next nudge, or {@link Long#MAX_VALUE} if none follows; called when the kernel has all
     * bytes.
     *
     * @param written the frames written so far; a new frame serves as a nudge for earlier ones
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

    /** Restarts the pauses, since bytes wait for space in the kernel. */
    void startAgain() {
        frames = UNKNOWN;
        isOver = true;
    }
}
