package dev.troupe.cli.stop;

import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * What is asked of a command by Ctrl-C, SIGTERM, SIGHUP or whoever launched it: the first time to stop after the step,
 * with a checkpoint; the second time at once. However often it is asked then, the process exits within a bound, with
 * {@link ExitCode#STOPPED}.
 *
 * <p>Thread rule: any thread asks; one thread says how far the command is.
 */
public final class StopRequests implements AutoCloseable {
    /** What can be stopped. Neither method waits. */
    public interface Stoppable {
        /** After the step under way, with a checkpoint. */
        void stop();

        /** At once, without. */
        void stopNow();

        /** Whether the run itself says how it answers a request. */
        default boolean answers() {
            return false;
        }
    }

    /** How far the command is, and so what a request can still change. */
    private enum Phase {
        /** Nothing has been started or written. */
        PREPARING,
        /** What is being started cannot be asked yet. */
        STARTING, RUNNING,
        /** The run is over; its model is written, and then a sample of what it writes. */
        CONCLUDING, OVER
    }

    private enum Asked {
        NOTHING, STOP, STOP_NOW
    }

    public static final String NOTHING_BEGUN = "Stopped before the run began; nothing was written.";
    public static final String AFTER_THE_STEP = "Stopping after this step, with a checkpoint; once more stops at once, without ...";
    static final String AT_ONCE = "Stopping at once ...";
    static final String RUN_IS_OVER = "The run is over: this ends once its model is written ...";
    /** Longer than a node takes to say goodbye to the others and to end its ranks' threads. */
    public static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration START = Duration.ofSeconds(10);
    private static final Duration HOOKS = Duration.ofSeconds(10);

    /** The latest of this process that is not closed. */
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

    /** The signals of this process are the command's from now on. For the JVM of the command alone. */
    public static void handleSignals() {
        synchronized (StopRequests.class) {
            isHandled = true;
        }
    }

    /**
     * Hears requests from now on.
     *
     * @param output
     *            gets a line that says how the run answers a request
     * @param nothingBegun
     *            what is said where the process exits at a request, since there is nothing to stop
     * @param patience
     *            how long it may take to stop at once before the process exits as it is
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

    /** From now on something is started that has to be given back. */
    public synchronized void starting() {
        phase = Phase.STARTING;
    }

    /** It can be asked itself now, and hears what was asked until now. */
    public synchronized void running(Stoppable started) {
        phase = Phase.RUNNING;
        target = started;
        pass();
    }

    /** The run is over: what is left to do takes as long as it takes to write a model. */
    public synchronized void concluding() {
        phase = Phase.CONCLUDING;
    }

    /** Whether anybody has asked. */
    public synchronized boolean isAsked() {
        return asked != Asked.NOTHING;
    }

    /** Whether anybody has asked to stop at once. */
    public synchronized boolean isAskedTwice() {
        return asked == Asked.STOP_NOW;
    }

    /**
     * A signal asks: the second one asks to stop at once. The words of a launcher do not count as signals, since one
     * Ctrl-C reaches both the launcher and this process, in whatever order.
     */
    synchronized void ask() {
        signals++;
        if (signals == 1) {
            stop();
        } else {
            stopNow();
        }
    }

    /** Asks to stop after the step; has no effect where that was asked already. */
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

    /** Asks to stop at once; has no effect where that was asked already. */
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
        exitUnless(() -> false, patience, "the run's last checkpoint stands");
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

    /** The process exits where neither the command is over in time nor the condition holds then. */
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

    /** Exits, from a thread of its own; hooks that hang do not hold it up. */
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

    /** The command is over. A request that comes later is for whoever listened before, or for nobody: the process exits. */
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
