package dev.troupe.protocol;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Immutable copies in an order that is the same in every process. {@link Map#copyOf} and {@link Set#copyOf} draw their order
 * anew in each JVM, so that a walk over one could give other commands for the same events.
 */
public final class FixedOrder {
    private FixedOrder() {
    }

    public static <K extends Comparable<? super K>, V> SortedMap<K, V> copyOf(Map<K, V> map) {
        return Collections.unmodifiableSortedMap(new TreeMap<>(map));
    }

    public static <V> Set<V> copyOf(Collection<V> values) {
        return Collections.unmodifiableSet(new LinkedHashSet<>(values));
    }
}
