package dev.troupe.rank.pulse;

import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.KernelHook;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * A count of the progress of a rank's threads. If there is no beat for longer than the rank's longest kernel took, the rank
 * hangs, however long its action may take. Thread rule: any thread.
 */
public final class Pulse implements KernelHook {
    private final LongAdder beats = new LongAdder();
    private final LongAccumulator longestNanos = new LongAccumulator(Math::max, 0);
    private final AtomicInteger inCollectives = new AtomicInteger();

    /** Counts a beat: the end of a kernel, of a piece of a file, or of a collective. */
    public void beat() {
        beats.increment();
    }

    public long beats() {
        return beats.sum();
    }

    /** Returns whether a thread of the rank is in a collective, and so may wait for other ranks. */
    public boolean waits() {
        return inCollectives.get() > 0;
    }

    public long longestKernelNanos() {
        return longestNanos.get();
    }

    @Override
    public long begins(Kernel kernel) {
        return System.nanoTime();
    }

    @Override
    public void ended(Kernel kernel, long begun, Tensor result) {
        longestNanos.accumulate(System.nanoTime() - begun);
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
