package dev.troupe.weights;

import java.util.function.Supplier;

/**
 * Whether bytes move: a file of many gigabytes takes as long as its disk lets it, and whoever waits for it must tell
 * that from a disk that hangs. What reads, makes or writes weights says {@link #moved} after each piece, to whoever
 * listens to its thread.
 *
 * <p>Thread rule: any thread; a listener hears the thread that it was given with.
 */
public final class Progress {
    /** Small enough for the slowest disk to move it well within any patience. */
    static final int PIECE_BYTES = 1 << 24;

    private static final ScopedValue<Runnable> LISTENER = ScopedValue.newInstance();
    private static final Runnable NOBODY = () -> {
    };

    private Progress() {
    }

    /** Does work on this thread, and has the listener hear of every piece that it moves. */
    public static <T> T heardBy(Runnable listener, Supplier<T> work) {
        return ScopedValue.where(LISTENER, listener).call(work::get);
    }

    /** A piece of bytes was moved. */
    public static void moved() {
        LISTENER.orElse(NOBODY).run();
    }
}
