package dev.troupe.pulse;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what the threads of a rank get done. A rank whose pulse stands still for longer than its longest kernel takes
 * does not compute any more, however long the action may be that it is at.
 *
 * <p>Thread rule: any thread.
 */
public final class Pulse {
    private final LongAdder beats = new LongAdder();
    private final LongAccumulator longestNanos = new LongAccumulator(Math::max, 0);
    private final AtomicInteger inCollectives = new AtomicInteger();

    /** Something was done: a kernel, a piece of a file, a collective. */
    public void beat() {
        beats.increment();
    }

    /** How often it has beaten. */
    public long beats() {
        return beats.sum();
    }

    /** Whether a thread of the rank is in a collective, so that other ranks may have to move before it can. */
    public boolean waits() {
        return inCollectives.get() > 0;
    }

    /** How long the longest kernel took, in nanoseconds. */
    public long longestKernelNanos() {
        return longestNanos.get();
    }

    /** A kernel begins; what is returned goes to {@link #kernelEnds}. */
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
