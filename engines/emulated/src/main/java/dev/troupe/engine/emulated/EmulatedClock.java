package dev.troupe.engine.emulated;

import dev.troupe.engine.provider.Work;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.engine.provider.WorkCosts;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/** The clock of one rank's work, which sleeps for its costs. */
final class EmulatedClock implements WorkClock {
    private final WorkCosts costs;
    private final LongSupplier clock;
    private final ExactSleep sleep;
    private long deadlineNanos;

    EmulatedClock(WorkCosts costs) {
        this(costs, System::nanoTime, LockSupport::parkNanos);
    }

    /** Creates a clock over a given clock and a sleep on it, both in nanoseconds. */
    EmulatedClock(WorkCosts costs, LongSupplier clock, LongConsumer sleep) {
        this.costs = costs;
        this.clock = clock;
        this.sleep = new ExactSleep(clock, sleep);
    }

    @Override
    public void begins(int stage, Work work) {
        deadlineNanos = clock.getAsLong() + costs.nanos(stage, work);
    }

    @Override
    public void begins(int stage, Work work, long step, int microbatch) {
        deadlineNanos = clock.getAsLong() + costs.nanos(stage, work, step, microbatch);
    }

    @Override
    public void ends() {
        sleep.until(deadlineNanos);
    }
}
