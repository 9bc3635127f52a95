package dev.troupe.run;

import dev.troupe.plan.error.Reason;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.rank.warmup.KernelWarmUp;
import dev.troupe.weights.WeightException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The warm-up of a node, which checks the weights of files and runs the kernels of its ranks once. Each rank has its own
 * thread. One rank for each processor runs at a time: more would interpret the same code while the compilers wait. The last
 * rank begins, since it has most kinds of kernels. If a kernel fails, the run is refused, since no part of it exists yet.
 *
 * <p>Thread rule: {@link #report} and {@link #await} by one thread at a time.
 */
public final class NodeWarmUp {
    /** The longest wait for a kernel, in recovery.hang-timeouts, since no kernel's time is known yet. */
    private static final int HANG_TIMEOUTS = 20;
    private static final Duration LOOK = Duration.ofMillis(200);
    /** The maximum that one interval between two looks counts, since the process may have been stopped in it. */
    private static final Duration MOST_OF_A_LOOK = Duration.ofSeconds(2);

    private final PreparedRun run;
    private final List<KernelWarmUp> ranks;
    private final CountDownLatch left;
    private final Semaphore processors = new Semaphore(Runtime.getRuntime().availableProcessors(), true);
    private final AtomicReference<Optional<String>> refusal = new AtomicReference<>(Optional.empty());
    /** The names of tensors of files that were checked. */
    private final Set<String> checked = ConcurrentHashMap.newKeySet();
    private final long startNanos = System.nanoTime();
    private volatile long endNanos;
    // Fields of the thread that calls await or report.
    private long lookedNanos = startNanos;
    private long stillNanos;
    private long beats;

    private NodeWarmUp(PreparedRun run, List<Integer> ranks) {
        this.run = run;
        this.ranks = ranks.stream().map(rank -> new KernelWarmUp(run.plan(), rank, run.validation().isPresent()))
                .toList();
        this.left = new CountDownLatch(ranks.size());
    }

    /** Begins the warm-up, which is empty for an engine that computes nothing. */
    public static NodeWarmUp start(PreparedRun run, List<Integer> ranks) {
        NodeWarmUp warmUp = new NodeWarmUp(run, run.engine().computes() ? ranks : List.of());
        for (KernelWarmUp rank : warmUp.ranks.reversed()) {
            // A thread for each rank, as in the run, so that a library makes its shared objects here and not in the run.
            Thread.ofPlatform().daemon().name("warm-up-of-rank-" + rank.rank()).start(() -> warmUp.run(rank));
        }
        return warmUp;
    }

    private void run(KernelWarmUp rank) {
        processors.acquireUninterruptibly();
        try {
            rank.requireNumbers(run.start().weights(), run.engine().settings().parameterType(), checked);
            rank.run(() -> run.engine().open(rank.rank()));
        } catch (WeightException wrong) {
            refusal.compareAndSet(Optional.empty(), Optional.of(wrong.getMessage()));
        } catch (Throwable failure) { // errors too, since a thread waits
            refusal.compareAndSet(Optional.empty(), Optional.of("rank " + rank.rank()
                    + " cannot run on this machine what the run needs: " + Reason.of(failure) + ", "
                    + rank.situation() + ", with engine.kind = " + run.engine().provider().kind()
                    + "; choose another engine, training.precision or size"));
        } finally {
            processors.release();
            endNanos = System.nanoTime();
            left.countDown();
        }
    }

    public WarmUpReport report() {
        if (left.getCount() == 0) {
            long longest = ranks.stream().mapToLong(rank -> rank.pulse().longestKernelNanos()).max().orElse(0);
            return new WarmUpReport(true, ranks.isEmpty() ? 0 : (endNanos - startNanos) / 1e9, longest, refusal.get());
        }
        return stuck().map(why -> new WarmUpReport(true, (lookedNanos - startNanos) / 1e9, 0, Optional.of(why)))
                .orElse(WarmUpReport.IN_PROGRESS);
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

    /**
     * Waits for the end of the warm-up. All memory is freed then, except the memory of a kernel that hangs.
     *
     * @throws InterruptedException if this thread was interrupted, even without a wait: the next steps map files, and an
     *     interrupt would close their channels
     */
    public WarmUpReport await() throws InterruptedException {
        WarmUpReport report = report();
        while (!report.isOver()) {
            left.await(LOOK.toMillis(), TimeUnit.MILLISECONDS);
            report = report();
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return report;
    }
}
