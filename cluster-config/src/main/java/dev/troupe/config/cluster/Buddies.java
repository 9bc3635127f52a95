package dev.troupe.config.cluster;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The choice of a buddy for each node: the node that holds replicas of its ranks' snapshots, and takes over the ranks if the
 * node is lost. Pure functions.
 */
public final class Buddies {
    private Buddies() {
    }

    /**
     * Chooses a living buddy for every living node with ranks. The criteria, in this order: a node without ranks; on another
     * host; the buddy of the fewest nodes; the next node of the file, as in a ring.
     *
     * @param nodes every node of the cluster
     * @param nodeOfRank for each rank its node, by index
     * @param alive the nodes that live, by index
     * @return for each living node with ranks its buddy, by index; empty if only one node lives
     */
    public static Map<Integer, Integer> of(List<NodeSpec> nodes, List<Integer> nodeOfRank, Set<Integer> alive) {
        Set<Integer> busy = new TreeSet<>(nodeOfRank);
        busy.retainAll(alive);
        List<Integer> free = alive.stream().filter(node -> !busy.contains(node)).toList();
        Map<Integer, Integer> buddies = new TreeMap<>();
        int[] load = new int[nodes.size()];
        for (int node : busy) {
            List<Integer> candidates = free.isEmpty() ? busy.stream().filter(other -> other != node).toList() : free;
            candidates.stream()
                    .min(Comparator.comparing((Integer other) -> nodes.get(other).isOn(nodes.get(node).host()))
                            .thenComparing(other -> load[other])
                            .thenComparing(other -> Math.floorMod(other - node, nodes.size())))
                    .ifPresent(buddy -> {
                        buddies.put(node, buddy);
                        load[buddy]++;
                    });
        }
        return buddies;
    }

    /**
     * Returns the ranks, ascending, with a buddy on this host while their node is on another one, if all nodes live. Nodes
     * of one host map each other's snapshots, so that none of them holds a copy.
     */
    public static List<Integer> ranksCopiedTo(ClusterSpec cluster, String host) {
        return ranksCopied(cluster, (buddy, node) -> buddy.isOn(host) && !node.isOn(host));
    }

    /** Returns the ranks, ascending, with a buddy on another host, if all nodes live. */
    public static List<Integer> ranksCopied(ClusterSpec cluster) {
        return ranksCopied(cluster, (buddy, node) -> !buddy.isOn(node.host()));
    }

    private static List<Integer> ranksCopied(ClusterSpec cluster, BiPredicate<NodeSpec, NodeSpec> isCopied) {
        List<NodeSpec> nodes = cluster.nodes();
        Set<Integer> all = IntStream.range(0, nodes.size()).boxed().collect(Collectors.toSet());
        return of(nodes, cluster.nodeOfRank(), all).entrySet().stream()
                .filter(pair -> isCopied.test(nodes.get(pair.getValue()), nodes.get(pair.getKey())))
                .flatMap(pair -> nodes.get(pair.getKey()).ranks().stream()).sorted().toList();
    }
}
