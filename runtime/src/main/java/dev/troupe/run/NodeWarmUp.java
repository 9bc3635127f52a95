package dev.troupe.run;

import dev.troupe.machine.WarmUpReport;
import dev.troupe.prepare.PreparedRun;
import dev.troupe.prepare.Reason;
import dev.troupe.warmup.KernelWarmUp;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Runs the kernels of some ranks once, all ranks at the same time as in the run, each on a thread of its own. What one
 * cannot run is a refusal: nothing of the run is there yet.
 *
 * <p>Thread rule: {@link #report} and {@link #await} by one thread at a time.
 */
public final class NodeWarmUp {
    /** The longest wait for a kernel, in recovery.hang-timeouts: no kernel has told its time yet. */
    private static final int HANG_TIMEOUTS = 20;
    private static final Duration LOOK = Duration.ofMillis(200);
    /** What counts of the time between two looks, so that a process that was stopped goes on. */
    private static final Duration MOST_OF_A_LOOK = Duration.ofSeconds(2);

    private final PreparedRun run;
    private final List<KernelWarmUp> ranks;
    private final CountDownLatch left;
    private final AtomicReference<Optional<String>> refusal = new AtomicReference<>(Optional.empty());
    private final long startNanos = System.nanoTime();
    private volatile long endNanos;
    // Of whoever asks.
    private long lookedNanos = startNanos;
    private long stillNanos;
    private long beats;

    private NodeWarmUp(PreparedRun run, List<Integer> ranks) {
        this.run = run;
        this.ranks = ranks.stream().map(rank -> new KernelWarmUp(run.plan(), rank, run.validation().isPresent()))
                .toList();
        this.left = new CountDownLatch(ranks.size());
    }

    /** Begins. An engine that computes nothing has nothing to run. */
    public static NodeWarmUp start(PreparedRun run, List<Integer> ranks) {
        NodeWarmUp warmUp = new NodeWarmUp(run, run.engine().provider().computes() ? ranks : List.of());
        for (KernelWarmUp rank : warmUp.ranks) {
            // Else it would be the run's first rank that makes what a library makes once.
            Thread.ofPlatform().daemon().name("warm-up-of-rank-" + rank.rank()).start(() -> warmUp.run(rank));
        }
        return warmUp;
    }

    private void run(KernelWarmUp rank) {
        try {
            rank.run(run.engine()::open);
        } catch (Throwable failure) { // an error too: whoever waits must hear of it
            refusal.compareAndSet(Optional.empty(), Optional.of("rank " + rank.rank()
                    + " cannot run on this machine what the run needs: " + Reason.of(failure) + ", "
                    + rank.situation() + ", with engine.kind = " + run.engine().provider().kind()
                    + "; choose another engine, training.precision or size"));
        } finally {
            endNanos = System.nanoTime();
            left.countDown();
        }
    }

    /** How far it is. */
    public WarmUpReport report() {
        if (left.getCount() == 0) {
            long longest = ranks.stream().mapToLong(rank -> rank.pulse().longestKernelNanos()).max().orElse(0);
            return new WarmUpReport(true, ranks.isEmpty() ? 0 : (endNanos - startNanos) / 1e9, longest, refusal.get());
        }
        return stuck().map(why -> new WarmUpReport(true, (lookedNanos - startNanos) / 1e9, 0, Optional.of(why)))
                .orElse(WarmUpReport.UNDER_WAY);
    }

    private Optional<String> stuck() {
        long now = System.nanoTime();
        long beatsNow = ranks.stream().mapToLong(rank -> rank.pulse().beats()).sum();
        stillNanos = beatsNow == beats
                ? stillNanos + Math.min(now - lookedNanos, MOST_OF_A_LOOK.toNanos())
                : 0;
        beats = beatsNow;
        lookedNanos = now;
        Duration limit = run.spec().recovery().hangTimeout().multipliedBy(HANG_TIMEOUTS);
        return stillNanos <= limit.toNanos()
                ? Optional.empty()
                : Optional.of("the warm-up hangs: no kernel has ended for " + limit.toSeconds() + " seconds ("
                        + HANG_TIMEOUTS + " times recovery.hang-timeout), " + ranks.stream()
                                .map(rank -> "rank " + rank.rank() + " " + rank.situation()).toList());
    }

    /** Waits for the end, and until all memory is given back but where a kernel hangs. */
    public WarmUpReport await() throws InterruptedException {
        WarmUpReport report = report();
        while (!report.isOver()) {
            left.await(LOOK.toMillis(), TimeUnit.MILLISECONDS);
            report = report();
        }
        return report;
    }
}
