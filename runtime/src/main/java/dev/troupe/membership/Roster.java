package dev.troupe.membership;

import dev.troupe.machine.ReplicaTable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The nodes of a run.
 *
 * @param ranks
 *            the ranks of each node, by its name; a standby has none, and nobody waits for it
 * @param keys
 *            what every node must have alike, in words
 * @param joinTimeout
 *            how long the nodes may take to come together
 * @param buddies
 *            which node keeps copies of what another one's ranks start again from
 */
public record Roster(Map<String, List<Integer>> ranks, Map<String, String> keys, Duration joinTimeout,
        ReplicaTable.Buddies buddies) {
    /**
     * The key that says how many steps lie behind where a node begins. A roster without it is that of a run under way,
     * of which a node that came back begins elsewhere.
     */
    public static final String STEPS_BEHIND = "steps behind";

    public Roster {
        ranks = Map.copyOf(ranks);
        keys = new TreeMap<>(keys);
    }

    /** For each rank the node that it lives on at first. */
    public List<String> hosts() {
        Map<Integer, String> hosts = new TreeMap<>();
        ranks.forEach((node, its) -> its.forEach(rank -> hosts.put(rank, node)));
        return List.copyOf(hosts.values());
    }
}
