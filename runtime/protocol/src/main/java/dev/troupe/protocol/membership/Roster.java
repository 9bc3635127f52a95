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
 * @param joinTimeout longest time for all nodes to join
 * @param buddies the choice of each node's buddy
 */
public record Roster(Map<String, List<Integer>> ranks, Map<String, String> keys, Duration joinTimeout,
        ReplicaTable.Buddies buddies) {
    /**
     * The key of the steps done when a node starts. After the run has begun, the roster omits it, since a node that rejoins
     * may have another number.
     */
    public static final String STEPS_BEHIND = "steps behind";

    /** The prefix of the keys of {@link #products}. */
    static final String PRODUCTS = "engine.products on ";

    /**
     * The key of the number of blocks that a stage replays ahead of their gradients. Each node derives it from a memory
     * budget and the sizes of its own engine.
     */
    public static final String BLOCKS_AHEAD = "blocks within training.recompute-ahead";

    public Roster {
        ranks = FixedOrder.copyOf(ranks);
        keys = new TreeMap<>(keys);
    }

    /**
     * Returns the key of an engine's libraries of matrix products. A node on another engine, or on an engine without a
     * choice, lacks the key and may join.
     */
    public static String products(String engine) {
        return PRODUCTS + engine;
    }

    /** Returns the first node of each rank. */
    public List<String> hosts() {
        Map<Integer, String> hosts = new TreeMap<>();
        ranks.forEach((node, its) -> its.forEach(rank -> hosts.put(rank, node)));
        return List.copyOf(hosts.values());
    }
}
