package dev.troupe.protocol;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Copies that nobody changes, in an order that is the same in every process. That of {@link Map#copyOf} and
 * {@link Set#copyOf} is drawn anew in each JVM: whatever walks over one would decide by it, and the same events would have
 * other commands.
 */
public final class FixedOrder {
    private FixedOrder() {
    }

    /** Returns a copy in the order of its keys. */
    public static <K extends Comparable<? super K>, V> SortedMap<K, V> copyOf(Map<K, V> map) {
        return Collections.unmodifiableSortedMap(new TreeMap<>(map));
    }

    /** Returns a copy in the order in which the values are handed in. */
    public static <V> Set<V> copyOf(Collection<V> values) {
        return Collections.unmodifiableSet(new LinkedHashSet<>(values));
    }
}
