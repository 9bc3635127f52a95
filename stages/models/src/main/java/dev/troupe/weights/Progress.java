package dev.troupe.weights;

import java.util.function.Supplier;

/**
 * The report of progress in reading and writing, which distinguishes a slow disk from a disk that hangs. Readers, makers and
 * writers of weights call {@link #moved} after each piece, which notifies the listener of their thread.
 *
 * <p>Thread rule: any thread; a listener is notified on the thread that it was given with.
 */
public final class Progress {
    /** Small enough for the slowest disk within any time limit. */
    static final int PIECE_BYTES = 1 << 24;

    private static final ScopedValue<Runnable> LISTENER = ScopedValue.newInstance();
    private static final Runnable NOBODY = () -> {
    };

    private Progress() {
    }

    /** Does work on this thread, and notifies the listener of every piece that it moves. */
    public static <T> T reportedTo(Runnable listener, Supplier<T> work) {
        return ScopedValue.where(LISTENER, listener).call(work::get);
    }

    /** Reports a piece of bytes. */
    public static void moved() {
        LISTENER.orElse(NOBODY).run();
    }
}
