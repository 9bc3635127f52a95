package dev.troupe.rank;

import dev.troupe.plan.error.Reason;
import dev.troupe.rank.snapshot.Snapshots;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The warm-up of a node without ranks: it {@linkplain WarmUpRun runs} a rank of each place that it may take over, so that
 * its JVM has compiled the code and its libraries have prepared their kernels before it counts. The last place comes first,
 * since it has most kinds of work. A thread pauses after each action for the time that it took, and ends when steps get no
 * quicker. A failure is logged, and has no other effect.
 *
 * <p>Thread rule: any thread.
 */
public final class WarmUp {
    private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

    /** With the pauses. */
    private static final Duration LONGEST = Duration.ofSeconds(30);
    /** For each place. Compilers run during the steps, so one that is no quicker may be followed by one that is. */
    private static final int NO_QUICKER = 2;
    /** The gain that counts as quicker; steps differ by less anyway. */
    private static final double QUICKER = 0.9;
    /** Longer than an action takes, even the first of its kind. */
    private static final Duration THREAD_END = Duration.ofSeconds(10);

    private final NodeContext node;
    private final Consumer<String> events;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final long startNanos = System.nanoTime();
    private final Thread thread;
    // Of the thread.
    private int steps;
    private long slowestNanos;
    private long quickestNanos = Long.MAX_VALUE;

    private WarmUp(NodeContext node, Consumer<String> events) {
        this.node = node;
        this.events = events;
        this.thread = Thread.ofPlatform().name("warm-up").daemon().priority(Thread.MIN_PRIORITY).unstarted(this::run);
    }

    /**
     * Begins.
     *
     * @param events receives the result in words, on the warm-up's thread, when all its memory is free
     */
    public static WarmUp start(NodeContext node, Consumer<String> events) {
        WarmUp warmUp = new WarmUp(node, events);
        warmUp.thread.start();
        return warmUp;
    }

    /** Lets no other action begin. */
    void stop() {
        stopped.countDown();
    }

    /** Stops it; when this returns all its memory is free. */
    public void end() {
        stop();
        try {
            if (!thread.join(THREAD_END)) {
                LOG.warn("an action of the warm-up takes longer than {} s", THREAD_END.toSeconds());
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        String how;
        try {
            boolean isDone = warmUpAll();
            how = (isDone ? "is warm" : "warms up no longer") + progress();
        } catch (RuntimeException | Error failure) { // an engine that lacks its library, no room
            LOG.debug("the warm-up failed", failure);
            how = "could not warm up, and will be slow at first: " + Reason.of(failure);
        }
        events.accept(how);
    }

    private String progress() {
        return steps == 0
                ? ""
                : String.format(Locale.ROOT,
                        ": it warmed up %d steps of a rank in %.1f s, the slowest in %.2f s, the quickest in %.2f s",
                        steps, seconds(System.nanoTime() - startNanos), seconds(slowestNanos), seconds(quickestNanos));
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }

    /** Returns whether it was not cut short. */
    private boolean warmUpAll() {
        for (List<Integer> place : node.plan().places().reversed()) {
            try (Snapshots kept = new Snapshots(false)) {
                if (!warmUp(place.getFirst(), kept)) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean warmUp(int rank, Snapshots kept) {
        int noQuicker = 0;
        for (int stepsDone = 0; noQuicker < NO_QUICKER; stepsDone += node.plan().stepsPerPass()) {
            try (WarmUpRun warmUp = new WarmUpRun(node, kept, rank, stepsDone, this::pause)) {
                if (!warmUp.run()) {
                    return false;
                }
                long nanos = warmUp.nanos();
                noQuicker = nanos < QUICKER * quickestNanos ? 0 : noQuicker + 1;
                slowestNanos = Math.max(slowestNanos, nanos);
                quickestNanos = Math.min(quickestNanos, nanos);
            }
            steps++;
        }
        return true;
    }

    /** Leaves the cores to nodes that train on this machine; whether to continue. */
    private boolean pause(long nanos) {
        try {
            return !stopped.await(nanos, TimeUnit.NANOSECONDS)
                    && System.nanoTime() - startNanos < LONGEST.toNanos();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
