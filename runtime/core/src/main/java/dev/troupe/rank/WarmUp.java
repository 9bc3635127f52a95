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
 * The warm-up of a node without ranks. For each place that it may take over, the node {@linkplain WarmUpRun runs} one rank,
 * so that code is compiled and kernels are prepared in advance. The last place comes first, since it has most kinds of work.
 * The thread pauses after each action for the action's duration, and ends when steps get no faster. A failure is logged, and
 * has no other effect.
 *
 * <p>Thread rule: any thread.
 */
public final class WarmUp {
    private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

    /** Including the pauses. */
    private static final Duration LONGEST = Duration.ofSeconds(30);
    /**
     * Number of steps without a gain that ends the warm-up of a place. One is not enough, since compilers run during the
     * steps.
     */
    private static final int NO_QUICKER = 2;
    /** The gain that counts as faster; smaller differences are noise. */
    private static final double QUICKER = 0.9;
    /** Longer than any action takes, even the first of its kind. */
    private static final Duration THREAD_END = Duration.ofSeconds(10);

    private final NodeContext node;
    private final Consumer<String> events;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final long startNanos = System.nanoTime();
    private final Thread thread;
    // The fields below belong to the thread.
    private int steps;
    private long slowestNanos;
    private long quickestNanos = Long.MAX_VALUE;

    private WarmUp(NodeContext node, Consumer<String> events) {
        this.node = node;
        this.events = events;
        this.thread = Thread.ofPlatform().name("warm-up").daemon().priority(Thread.MIN_PRIORITY).unstarted(this::run);
    }

    /**
     * Begins a warm-up.
     *
     * @param events receives the result as text, on the warm-up's thread, after all its memory is freed
     */
    public static WarmUp start(NodeContext node, Consumer<String> events) {
        WarmUp warmUp = new WarmUp(node, events);
        warmUp.thread.start();
        return warmUp;
    }

    /** Prevents the next action; returns at once. */
    void stop() {
        stopped.countDown();
    }

    /** Stops the warm-up and waits until its memory is freed. */
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

    /** Returns false if it was stopped early. */
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

    /** Leaves the cores to nodes that train on this machine; returns whether to continue. */
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
