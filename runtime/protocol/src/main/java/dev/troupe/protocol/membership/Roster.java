package dev.troupe.protocol.membership;

import dev.troupe.protocol.FixedOrder;
import dev.troupe.protocol.replica.ReplicaTable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The nodes of a run.
 *
 * @param ranks the ranks of each node, by its name; a standby has none, and the run does not wait for it
 * @param keys the compatibility keys, in words
 * @param joinTimeout longest time until all nodes have joined
 * @param buddies the choice of each node's buddy
 */
public record Roster(Map<String, List<Integer>> ranks, Map<String, String> keys, Duration joinTimeout,
        ReplicaTable.Buddies buddies) {
    /**
     * The key of the steps done at the start of a node. The roster of a run that has begun lacks it, since a node that
     * rejoins may bring another number of steps.
     */
    public static final String STEPS_BEHIND = "steps behind";

    /** The common beginning of the keys of {@link #products}. */
    static final String PRODUCTS = "engine.products on ";

    /**
     * The key of the number of blocks that a stage replays ahead of their gradients, which a node derives from a budget of
     * memory with the sizes of its own engine.
     */
    public static final String BLOCKS_AHEAD = "blocks within training.recompute-ahead";

    public Roster {
        ranks = FixedOrder.copyOf(ranks);
        keys = new TreeMap<>(keys);
    }

    /**
     * Returns the key of the libraries of matrix products on an engine. A node on another engine, or on one that has no
     * choice, does not have it, and joins any other.
     */
    public static String products(String engine) {
        return PRODUCTS + engine;
    }

    /** Returns for each rank its first node. */
    public List<String> hosts() {
        Map<Integer, String> hosts = new TreeMap<>();
        ranks.forEach((node, its) -> its.forEach(rank -> hosts.put(rank, node)));
        return List.copyOf(hosts.values());
    }
}
