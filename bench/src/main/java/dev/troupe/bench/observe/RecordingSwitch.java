package dev.troupe.bench.observe;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The switch by which records of a run are left out. The methods of {@link Recorded} ask, since {@link RecordingAgent}
 * has put the question in front of each.
 *
 * <p>Thread rule: any thread.
 */
public final class RecordingSwitch {
    private static final Object CHANGED = new Object();
    /** A bit for each kind, by its ordinal. */
    private static volatile int leftOut;

    private RecordingSwitch() {
    }

    /** Leaves these out from now on, and records the others. */
    static void leaveOut(Set<Recorded> kinds) {
        synchronized (CHANGED) {
            leftOut = kinds.stream().mapToInt(kind -> 1 << kind.ordinal()).sum();
            CHANGED.notifyAll();
        }
    }

    /** Records everything from now on. */
    static void recordAll() {
        leaveOut(EnumSet.noneOf(Recorded.class));
    }

    /**
     * Whether a method of a kind is to return at once. The thread that finds pauses would ask again without end, so it waits
     * here instead.
     *
     * @param kind the ordinal of a {@link Recorded}
     */
    public static boolean leavesOut(int kind) {
        boolean isLeftOut = (leftOut & 1 << kind) != 0;
        if (isLeftOut && kind == Recorded.PAUSES.ordinal()) {
            awaitChange();
        }
        return isLeftOut;
    }

    private static void awaitChange() {
        synchronized (CHANGED) {
            try {
                CHANGED.wait(TimeUnit.SECONDS.toMillis(10));
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt(); // its own loop ends by a flag
            }
        }
    }
}
