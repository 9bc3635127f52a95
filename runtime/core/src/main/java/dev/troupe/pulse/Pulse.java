package dev.troupe.pulse;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the progress of a rank's threads. A rank without a beat for longer than its longest kernel takes does not
 * compute any more, however long its action may take.
 *
 * <p>Thread rule: any thread.
 */
public final class Pulse {
    private final LongAdder beats = new LongAdder();
    private final LongAccumulator longestNanos = new LongAccumulator(Math::max, 0);
    private final AtomicInteger inCollectives = new AtomicInteger();

    /** Counts a beat: a kernel, a piece of a file or a collective is done. */
    public void beat() {
        beats.increment();
    }

    /** Returns the number of beats. */
    public long beats() {
        return beats.sum();
    }

    /** Whether a thread of the rank is in a collective, so that other ranks may have to move before it can. */
    public boolean waits() {
        return inCollectives.get() > 0;
    }

    /** Returns the time of the longest kernel, in nanoseconds. */
    public long longestKernelNanos() {
        return longestNanos.get();
    }

    /** A kernel begins; the result must be passed to {@link #kernelEnds}. */
    long kernelBegins() {
        return System.nanoTime();
    }

    void kernelEnds(long begunNanos) {
        longestNanos.accumulate(System.nanoTime() - begunNanos);
        beat();
    }

    void collectiveBegins() {
        inCollectives.incrementAndGet();
    }

    void collectiveEnds() {
        inCollectives.decrementAndGet();
        beat();
    }
}
