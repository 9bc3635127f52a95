package dev.troupe.cli.stop;

import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The requests to stop a command, by Ctrl-C, SIGTERM, SIGHUP or its launcher. The first request stops the run after the
 * step, with a checkpoint; the second stops it at once. The process then exits within a bound, with {@link
 * ExitCode#STOPPED}.
 *
 * <p>Thread rule: any thread asks; one thread reports the progress of the command.
 */
public final class StopRequests implements AutoCloseable {
    /** A run or process that can be stopped. Its methods do not block. */
    public interface Stoppable {
        /** Stops after the current step, with a checkpoint. */
        void stop();

        /** Stops at once, without a checkpoint. */
        void stopNow();

        /** Returns whether the run itself prints its response to a request. */
        default boolean answers() {
            return false;
        }
    }

    /** The progress of the command, which decides the effect of a request. */
    private enum Phase {
        /** Nothing has been started or written. */
        PREPARING,
        /** The run is starting and cannot be asked yet. */
        STARTING, RUNNING,
        /** The run is over, and its model and a sample of its text are being written. */
        CONCLUDING, OVER
    }

    private enum Asked {
        NOTHING, STOP, STOP_NOW
    }

    public static final String NOTHING_BEGUN = "Stopped before the run began; nothing was written.";
    public static final String AFTER_THE_STEP = "Stopping after this step, with a checkpoint; once more stops at once, without ...";
    static final String AT_ONCE = "Stopping at once ...";
    static final String RUN_IS_OVER = "The run is over: this ends once its model is written ...";
    /** Longer than a node takes to leave the cluster and to end its ranks' threads. */
    public static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration START = Duration.ofSeconds(10);
    private static final Duration HOOKS = Duration.ofSeconds(10);

    /** The newest open instance of this process. */
    private static StopRequests latest;
    private static boolean isHandled;

    private final PrintStream output;
    private final String nothingBegun;
    private final Duration patience;
    private final StopRequests outer;
    private final CountDownLatch over = new CountDownLatch(1);
    private Phase phase = Phase.PREPARING;
    private Asked asked = Asked.NOTHING;
    private int signals;
    private Stoppable target;

    private StopRequests(PrintStream output, String nothingBegun, Duration patience) {
        this.output = output;
        this.nothingBegun = nothingBegun;
        this.patience = patience;
        this.outer = latest;
    }

    /** Makes the command handle the signals of this process from now on. Only the JVM of the command calls this. */
    public static void handleSignals() {
        synchronized (StopRequests.class) {
            isHandled = true;
        }
    }

    /** The rule of a command that trains one run after another. */
    @FunctionalInterface
    public interface Runs {
        /** Runs them; returns the exit code, {@link ExitCode#STOPPED} if one of the runs was stopped. */
        int run() throws InterruptedException;
    }

    /** Passes the requests to each run, and prints a line if one was stopped. */
    public static int duringRuns(PrintStream output, String stopped, Runs runs) throws InterruptedException {
        try (StopRequests _ = listen(output, stopped, PATIENCE)) {
            int exitCode = runs.run();
            if (exitCode == ExitCode.STOPPED) {
                output.println(stopped);
            }
            return exitCode;
        }
    }

    /** Interrupts the calling thread at a request, and prints a line if its runs end by that. */
    public static int interrupting(PrintStream output, String stopped, Runs runs) {
        Thread running = Thread.currentThread();
        try (StopRequests requests = listen(output, stopped, PATIENCE)) {
            requests.running(new Stoppable() {
                @Override
                public void stop() {
                    running.interrupt();
                }

                @Override
                public void stopNow() {
                    running.interrupt();
                }

                @Override
                public boolean answers() {
                    return true;
                }
            });
            return runs.run();
        } catch (InterruptedException _) {
            output.println();
            output.println(stopped);
            return ExitCode.STOPPED;
        }
    }

    /**
     * Receives requests from now on.
     *
     * @param output receives a line on the run's response to a request
     * @param nothingBegun the line if the process exits at once, since nothing has begun
     * @param patience the longest time of a stop at once, after which the process exits in any state
     */
    public static StopRequests listen(PrintStream output, String nothingBegun, Duration patience) {
        synchronized (StopRequests.class) {
            if (isHandled && latest == null) {
                Signals.deliverTo(_ -> askLatest());
            }
            latest = new StopRequests(output, nothingBegun, patience);
            return latest;
        }
    }

    private static void askLatest() {
        StopRequests asked;
        synchronized (StopRequests.class) {
            asked = latest;
        }
        asked.ask();
    }

    /** Records that the command starts something that must be released. */
    public synchronized void starting() {
        phase = Phase.STARTING;
    }

    /** Records that the run itself can be asked, and passes earlier requests on to it. */
    public synchronized void running(Stoppable started) {
        phase = Phase.RUNNING;
        target = started;
        pass();
    }

    /** Records that the run is over; the time for writing the model is unlimited from now on. */
    public synchronized void concluding() {
        phase = Phase.CONCLUDING;
    }

    public synchronized boolean isAsked() {
        return asked != Asked.NOTHING;
    }

    /** Returns whether a request to stop at once has been made. */
    public synchronized boolean isAskedTwice() {
        return asked == Asked.STOP_NOW;
    }

    /**
     * Handles a signal; the second one stops at once. Lines of a launcher do not count as signals, since one Ctrl-C reaches
     * both the launcher and this process, in any order.
     */
    synchronized void ask() {
        signals++;
        if (signals == 1) {
            stop();
        } else {
            stopNow();
        }
    }

    /** Asks to stop after the step; has no effect the second time. */
    synchronized void stop() {
        if (asked != Asked.NOTHING || phase == Phase.OVER) {
            return;
        }
        asked = Asked.STOP;
        switch (phase) {
            case PREPARING -> {
                say(nothingBegun);
                exit();
            }
            case STARTING -> {
                say(AFTER_THE_STEP);
                exitUnless(() -> phase != Phase.STARTING, START, "the run had not begun");
            }
            case RUNNING -> {
                sayUnlessAnswered(AFTER_THE_STEP);
                target.stop();
            }
            case CONCLUDING -> say(RUN_IS_OVER);
            case OVER -> {
            }
        }
    }

    /** Asks to stop at once; has no effect the second time. */
    synchronized void stopNow() {
        if (asked == Asked.STOP_NOW || phase == Phase.OVER) {
            return;
        }
        asked = Asked.STOP_NOW;
        if (phase == Phase.PREPARING) {
            say(nothingBegun);
            exit();
            return;
        }
        sayUnlessAnswered(AT_ONCE);
        if (phase == Phase.STARTING) {
            exitUnless(() -> phase != Phase.STARTING, START, "the run had not begun");
            return;
        }
        if (phase != Phase.RUNNING) {
            exit();
            return;
        }
        stopTargetNow();
    }

    private void stopTargetNow() {
        exitUnless(() -> false, patience, "the last checkpoint of the run is complete");
        target.stopNow();
    }

    private void pass() {
        switch (asked) {
            case NOTHING -> {
            }
            case STOP -> target.stop();
            case STOP_NOW -> stopTargetNow();
        }
    }

    private void sayUnlessAnswered(String sentence) {
        if (phase != Phase.RUNNING || !target.answers()) {
            say(sentence);
        }
    }

    private void say(String sentence) {
        output.println();
        output.println(sentence);
        output.flush();
    }

    private interface Condition {
        boolean holds();
    }

    /** Exits the process if the command does not end in time, unless the condition then holds. */
    private void exitUnless(Condition condition, Duration bound, String what) {
        Thread.ofPlatform().daemon().name("stop-bound").start(() -> {
            if (await(over, bound)) {
                return;
            }
            synchronized (this) {
                if (condition.holds()) {
                    return;
                }
            }
            System.err.println("troupe: the command did not stop within " + bound.toSeconds()
                    + " seconds, so its process exits as it is; " + what);
            exit();
        });
    }

    /** Exits on a separate thread, so that a hanging hook cannot prevent the exit. */
    private static void exit() {
        Thread.ofPlatform().daemon().name("halt").start(() -> {
            await(new CountDownLatch(1), HOOKS);
            Runtime.getRuntime().halt(ExitCode.STOPPED);
        });
        Thread.ofPlatform().name("exit").start(() -> System.exit(ExitCode.STOPPED));
    }

    private static boolean await(CountDownLatch latch, Duration bound) {
        try {
            return latch.await(bound.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Ends the command. A later request goes to the instance before this one; without one, the process exits. */
    @Override
    public void close() {
        synchronized (this) {
            phase = Phase.OVER;
            over.countDown();
        }
        synchronized (StopRequests.class) {
            if (outer != null) {
                latest = outer;
            }
        }
    }
}
