package dev.troupe.machine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The nodes of a run.
 *
 * @param ranks
 *            the ranks of each node, by its name; a standby has none, and nobody waits for it
 * @param traits
 *            what every node must have alike, in words
 * @param joinTimeout
 *            how long the nodes may take to come together
 */
public record Cast(Map<String, List<Integer>> ranks, Map<String, String> traits, Duration joinTimeout) {
    public Cast {
        ranks = Map.copyOf(ranks);
        traits = new TreeMap<>(traits);
    }
}
