package dev.troupe.store;

import java.util.Comparator;

/**
 * The version of a segment. In each epoch one server applies pushes, so equal stamps are equal states, and a later stamp has
 * every acknowledged push of an earlier one.
 *
 * @param epoch the epoch of the last update; 0 for the first parameters
 * @param version the number of updates
 */
public record Stamp(int epoch, long version) implements Comparable<Stamp> {
    static final Stamp FIRST = new Stamp(0, 0);

    @Override
    public int compareTo(Stamp other) {
        return Comparator.comparingInt(Stamp::epoch).thenComparingLong(Stamp::version).compare(this, other);
    }
}
