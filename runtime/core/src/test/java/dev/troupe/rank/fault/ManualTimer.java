package dev.troupe.rank.fault;

import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A timer of one thread on a clock that a test puts forward: nothing is due before, however slow the machine. */
final class ManualTimer extends ScheduledThreadPoolExecutor {
    private final AtomicLong nanos = new AtomicLong();
    private final Queue<Waiting> waiting = new PriorityQueue<>(
            Comparator.comparingLong(Waiting::dueNanos).thenComparingLong(Waiting::number));
    private long scheduled;

    private record Waiting(long dueNanos, long number, Runnable task) {
    }

    ManualTimer() {
        super(1);
    }

    long nanoTime() {
        return nanos.get();
    }

    @Override
    public synchronized ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        if (delay <= 0) {
            return super.schedule(task, delay, unit);
        }
        waiting.add(new Waiting(nanos.get() + unit.toNanos(delay), scheduled++, task));
        return null;
    }

    /** Advances the clock, and runs the tasks that are due by then, in the order of their times. */
    synchronized void advance(Duration time) {
        long now = nanos.addAndGet(time.toNanos());
        while (!waiting.isEmpty() && waiting.peek().dueNanos() <= now) {
            execute(waiting.poll().task());
        }
    }
}
