package dev.troupe.cli;

import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ctrl-C: asks the run to end after its step, and holds the process until the run has written its checkpoint and given
 * everything back, or too long a time has passed.
 */
final class Interrupt implements AutoCloseable {
    /** What the user reads at once. */
    static final String STOPPING = "Stopping after this step, with a checkpoint ...";
    private static final long PATIENCE_SECONDS = 120;

    private final CountDownLatch over = new CountDownLatch(1);
    private final Thread hook;
    private volatile boolean happened;

    private Interrupt(Runnable stop, PrintStream output) {
        hook = new Thread(() -> {
            if (over.getCount() == 0) {
                return;
            }
            happened = true;
            output.println();
            output.println(STOPPING);
            stop.run();
            try {
                if (!over.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                    System.err.println("troupe: the run did not end within " + PATIENCE_SECONDS
                            + " seconds of the interrupt; its last checkpoint stands");
                }
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }, "interrupt");
    }

    static Interrupt stops(Runnable stop, PrintStream output) {
        Interrupt interrupt = new Interrupt(stop, output);
        Runtime.getRuntime().addShutdownHook(interrupt.hook);
        return interrupt;
    }

    boolean happened() {
        return happened;
    }

    @Override
    public void close() {
        over.countDown();
        try {
            // A hook that stays holds the run, and all that it has, for as long as the process lives.
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // The process is ending: the hook runs, and finds that all is over.
        }
    }
}
