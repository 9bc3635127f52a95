package dev.troupe.store;

import java.util.Optional;

/**
 * A range of keys, which are indices of elements of a flat buffer.
 *
 * @param first the first key
 * @param end the key after the last
 */
public record KeyRange(long first, long end) {
    public KeyRange {
        if (first < 0 || end <= first) {
            throw new IllegalArgumentException(
                    "a range of keys has at least one, from 0 on, but found " + first + " to "
                            + end);
        }
    }

    /** Returns the number of keys. */
    public int count() {
        return Math.toIntExact(end - first);
    }

    public boolean contains(KeyRange other) {
        return first <= other.first && other.end <= end;
    }

    /** Returns the keys of both ranges; empty if there are none. */
    public Optional<KeyRange> and(KeyRange other) {
        long from = Math.max(first, other.first);
        long to = Math.min(end, other.end);
        return from < to ? Optional.of(new KeyRange(from, to)) : Optional.empty();
    }
}
