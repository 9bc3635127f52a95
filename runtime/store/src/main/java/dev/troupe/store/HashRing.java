package dev.troupe.store;

import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A consistent-hash ring of servers, each at several points (Stoica et al. 2001; Li et al. 2014, section 4.3). A key belongs
 * to the first point at or after its hash. A server more takes its keys from the others and moves no other key.
 */
public final class HashRing {
    private static final long POINTS_OF_A_SERVER = 1L << 20;

    private final TreeMap<Long, Integer> points = new TreeMap<>();

    /**
     * Creates the ring of some servers.
     *
     * @param virtualNodes the points of each server; the more, the more equal are the shares
     */
    public HashRing(Collection<Integer> servers, int virtualNodes) {
        if (servers.isEmpty() || virtualNodes < 1 || virtualNodes >= POINTS_OF_A_SERVER) {
            throw new IllegalArgumentException("a ring has at least one server and from 1 to "
                    + (POINTS_OF_A_SERVER - 1) + " points of each, but found " + servers + " and " + virtualNodes);
        }
        for (int server : servers) {
            for (int point = 0; point < virtualNodes; point++) {
                // Keys have even numbers, and points odd ones.
                points.put(mixed(2 * (server * POINTS_OF_A_SERVER + point) + 1), server);
            }
        }
    }

    /** Returns the server of a key. */
    public int owner(long key) {
        return holders(key, 1).getFirst();
    }

    /**
     * Returns the server of a key and the next ones on the ring, each once.
     *
     * @param count the most servers; fewer if the ring has fewer
     */
    public List<Integer> holders(long key, int count) {
        long hash = mixed(2 * key);
        Set<Integer> found = new LinkedHashSet<>();
        for (Map<Long, Integer> arc : List.of(points.tailMap(hash), points.headMap(hash))) {
            Iterator<Integer> servers = arc.values().iterator();
            while (servers.hasNext() && found.size() < count) {
                found.add(servers.next());
            }
        }
        return List.copyOf(found);
    }

    /** The finalizer of SplitMix64 (Steele et al. 2014), which is a bijection. */
    private static long mixed(long number) {
        long z = number + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
