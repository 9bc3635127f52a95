package dev.troupe.trace;

import dev.troupe.schedule.idle.RankTimes.Pause;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The times in which this process stood still: collections of garbage and other safepoints, and a process stopped from
 * outside. A thread sleeps two milliseconds at a time; what it wakes too late, and was not waiting for a core, is a pause.
 *
 * <p>Thread rule: any thread asks; the thread of its own watches until it is closed.
 */
public final class Pauses implements AutoCloseable {
    private static final long SLEEP_NANOS = 2_000_000;
    /** What a sleep may take longer without a pause. */
    private static final long SHORTEST_NANOS = 1_000_000;
    private static final int MOST_KEPT = 1_000;

    private final Deque<Pause> newest = new ArrayDeque<>();
    private boolean isWatched;
    private volatile boolean isClosed;

    /** Begins to watch, unless it does; before that there are no pauses, whatever happens. */
    public synchronized Pauses watched() {
        if (!isWatched) {
            isWatched = true;
            Thread.ofPlatform().name("pauses").daemon().start(this::watch);
        }
        return this;
    }

    private void watch() {
        RunDelay delay = RunDelay.ofThisThread();
        long before = System.nanoTime();
        long delayed = delay.nanos();
        while (!isClosed) {
            LockSupport.parkNanos(SLEEP_NANOS);
            long now = System.nanoTime();
            long delayedNow = delay.nanos();
            long stood = now - before - SLEEP_NANOS - (delayedNow - delayed);
            if (stood >= SHORTEST_NANOS) {
                add(new Pause(now - stood, now));
            }
            before = now;
            delayed = delayedNow;
        }
        delay.close();
    }

    private synchronized void add(Pause pause) {
        newest.addLast(pause);
        if (newest.size() > MOST_KEPT) {
            newest.removeFirst();
        }
    }

    /** Returns the pauses that ended after an instant of {@link System#nanoTime}, oldest first. */
    synchronized List<Pause> since(long nanos) {
        return newest.isEmpty() || newest.getLast().toNanos() <= nanos
                ? List.of()
                : newest.stream().filter(pause -> pause.toNanos() > nanos).toList();
    }

    /** Ends the thread, at its next look. */
    @Override
    public void close() {
        isClosed = true;
    }
}
