package dev.troupe.rank.trace;

import dev.troupe.rank.idle.RankTimes.Pause;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The pauses of this process: collections of garbage, as the JVM reports them, and stops from outside. To notice the latter,
 * a thread sleeps 20 ms at a time. The excess of a sleep, without waits for a core, is a stop of the process. A wake-up
 * costs about 40 microseconds of a virtual processor. Thread rule: any thread.
 */
public final class Pauses implements AutoCloseable {
    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    /** Tolerance of the length of a sleep. */
    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** A wake-up that is overdue by this is a pause in progress or not known yet: no thread waits so long for a core. */
    private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final Duration END = Duration.ofSeconds(5);
    private static final int MOST_KEPT = 1_000;

    private final Deque<Pause> newest = new ArrayDeque<>();
    private Thread watcher;
    private volatile long dueNanos;
    private volatile boolean isClosed;

    /** Begins to watch, unless it does already; there are no pauses before that. */
    public synchronized Pauses watched() {
        if (watcher == null) {
            dueNanos = System.nanoTime() + SLEEP_NANOS;
            watcher = Thread.ofPlatform().name("pauses").daemon().start(this::watch);
        }
        return this;
    }

    private void watch() {
        RunDelay delay = RunDelay.ofThisThread();
        CollectionPauses collections = new CollectionPauses(this::add);
        while (!isClosed) {
            look(delay);
        }
        collections.close();
        delay.close();
    }

    /** Sleeps once, and adds a pause if that took too long. */
    private void look(RunDelay delay) {
        long before = System.nanoTime();
        long delayed = delay.nanos();
        dueNanos = before + SLEEP_NANOS;
        LockSupport.parkNanos(SLEEP_NANOS);
        long now = System.nanoTime();
        long late = now - before - SLEEP_NANOS;
        if (late >= SHORTEST_NANOS) {
            long stood = late - (delay.nanos() - delayed);
            if (stood >= SHORTEST_NANOS) {
                add(new Pause(now - stood, now));
            }
        }
    }

    /** Adds a pause. Both sources may report the same one, and the JVM may report late. */
    synchronized void add(Pause pause) {
        long from = pause.fromNanos();
        long to = pause.toNanos();
        Deque<Pause> later = new ArrayDeque<>();
        while (!newest.isEmpty() && newest.getLast().toNanos() >= from) {
            Pause last = newest.removeLast();
            if (last.fromNanos() > to) {
                later.addFirst(last);
            } else {
                from = Math.min(from, last.fromNanos());
                to = Math.max(to, last.toNanos());
            }
        }
        newest.addLast(new Pause(from, to));
        newest.addAll(later);
        if (newest.size() > MOST_KEPT) {
            newest.removeFirst();
        }
    }

    /**
     * Returns the pauses that ended after an instant of {@link System#nanoTime}, oldest first. It includes a pause that the
     * watching thread has not noticed yet.
     */
    synchronized List<Pause> since(long nanos) {
        long now = System.nanoTime();
        if (watcher != null && now - dueNanos >= LATE_NANOS) {
            add(new Pause(dueNanos, now));
        }
        return newest.isEmpty() || newest.getLast().toNanos() <= nanos
                ? List.of()
                : newest.stream().filter(pause -> pause.toNanos() > nanos).toList();
    }

    /** Ends the thread, and waits for its end for a bounded time. */
    @Override
    public void close() {
        isClosed = true;
        Thread ending;
        synchronized (this) {
            ending = watcher;
        }
        if (ending == null) {
            return;
        }
        LockSupport.unpark(ending);
        try {
            ending.join(END);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
