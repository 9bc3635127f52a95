package dev.troupe.rank.pulse;

import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.KernelHook;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * The progress of a rank's threads, as a count. A rank without a beat for longer than its longest kernel takes does not
 * compute any more, however long its action may take.
 *
 * <p>Thread rule: any thread.
 */
public final class Pulse implements KernelHook {
    private final LongAdder beats = new LongAdder();
    private final LongAccumulator longestNanos = new LongAccumulator(Math::max, 0);
    private final AtomicInteger inCollectives = new AtomicInteger();

    /** Counts a beat: a kernel, a piece of a file or a collective is done. */
    public void beat() {
        beats.increment();
    }

    public long beats() {
        return beats.sum();
    }

    /** Returns whether a thread of the rank is in a collective, so that other ranks may have to move before it can. */
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
