package dev.troupe.store;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * The vector clocks of ranges of keys: the pushes of each worker that a range has. A new time splits the ranges that it
 * touches at its ends and changes the clock of no other key (Li et al. 2014, algorithm 2). So the number of clocks grows
 * with the ranges, not with the keys.
 */
public final class RangeClocks {
    private final KeyRange all;
    private final int workers;
    /** By the first key of each range; it ends before the next. */
    private final TreeMap<Long, long[]> clocks = new TreeMap<>();

    /** Creates clocks of 0 for all keys. */
    public RangeClocks(KeyRange all, int workers) {
        this.all = all;
        this.workers = workers;
        clocks.put(all.first(), new long[workers]);
    }

    /** Returns an independent copy. */
    public RangeClocks copy() {
        RangeClocks copy = new RangeClocks(all, workers);
        clocks.forEach((first, times) -> copy.clocks.put(first, times.clone()));
        return copy;
    }

    /**
     * Sets the clock of a worker.
     *
     * @throws IllegalArgumentException if some key of the range has a later time, or the range is not of these clocks
     */
    public void set(KeyRange range, int worker, long time) {
        if (!all.contains(range)) {
            throw new IllegalArgumentException(range + " is not within " + all);
        }
        splitAt(range.first());
        splitAt(range.end());
        for (long[] times : clocks.subMap(range.first(), range.end()).values()) {
            if (times[worker] > time) {
                throw new IllegalArgumentException("the clock of worker " + worker + " is " + times[worker]
                        + " for keys of " + range + " already, and would go back to " + time);
            }
            times[worker] = time;
        }
    }

    private void splitAt(long key) {
        if (key < all.end() && !clocks.containsKey(key)) {
            clocks.put(key, clocks.floorEntry(key).getValue().clone());
        }
    }

    /** Returns the clock of a worker for a key. */
    public long of(long key, int worker) {
        return clocks.floorEntry(key).getValue()[worker];
    }

    /** Returns the earliest clock of any worker for any key of a range. */
    public long earliest(KeyRange range) {
        Map.Entry<Long, long[]> first = clocks.floorEntry(range.first());
        return clocks.subMap(first.getKey(), range.end()).values().stream().flatMapToLong(Arrays::stream).min()
                .orElseThrow();
    }

    /** Returns the number of ranges with a clock of their own. */
    public int rangeCount() {
        return clocks.size();
    }
}
