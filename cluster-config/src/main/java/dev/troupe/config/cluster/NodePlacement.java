package dev.troupe.config.cluster;

import dev.troupe.config.group.GroupKind;
import dev.troupe.config.group.ParallelLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The placement of ranks on nodes: tensor groups within a node, since they exchange most, and pipelines across nodes,
 * as Narayanan et al. 2021, section 3.2, advise. Pure functions.
 */
public final class NodePlacement {
    private NodePlacement() {
    }

    /**
     * Places every rank that no node names on the nodes that name none: consecutive ranks, as evenly as whole tensor
     * groups allow. If the groups do not divide evenly, the first nodes have one group more.
     *
     * @param given the ranks of each node; empty: to be placed. A standby is given an empty list
     * @param maySplit whether tensor groups are split if there are fewer of them than nodes
     * @return the ranks of each node, ascending; some have none if there are fewer groups than nodes
     */
    public static List<List<Integer>> place(List<Optional<List<Integer>>> given, ParallelLayout layout,
            boolean maySplit) {
        int nodeCount = Math.toIntExact(given.stream().filter(Optional::isEmpty).count());
        List<List<Integer>> units = units(given, layout, maySplit ? nodeCount : 0);
        List<List<Integer>> placed = new ArrayList<>();
        int placedNodes = 0;
        for (Optional<List<Integer>> ranks : given) {
            placed.add(ranks.orElse(List.of()));
            if (ranks.isEmpty()) {
                List<List<Integer>> own = units.subList(firstUnit(placedNodes, nodeCount, units.size()),
                        firstUnit(placedNodes + 1, nodeCount, units.size()));
                placed.set(placed.size() - 1, own.stream().flatMap(List::stream).toList());
                placedNodes++;
            }
        }
        return List.copyOf(placed);
    }

    /** Returns the first unit of a node; the first nodes have one unit more if the units do not divide evenly. */
    private static int firstUnit(int node, int nodeCount, int unitCount) {
        return node * (unitCount / nodeCount) + Math.min(node, unitCount % nodeCount);
    }

    /**
     * Returns the ranks of each tensor group that no node names, or single ranks if there are fewer groups than wanted.
     */
    private static List<List<Integer>> units(List<Optional<List<Integer>>> given, ParallelLayout layout, int wanted) {
        Set<Integer> taken = new HashSet<>();
        given.forEach(ranks -> ranks.ifPresent(taken::addAll));
        List<List<Integer>> groups = layout.groups(GroupKind.TENSOR).stream()
                .map(group -> group.stream().filter(rank -> !taken.contains(rank)).toList())
                .filter(group -> !group.isEmpty()).toList();
        return groups.size() >= wanted ? groups : groups.stream().flatMap(List::stream).map(List::of).toList();
    }

    /**
     * Returns the tensor groups with ranks on different hosts.
     *
     * @param nodes nodes that hold every rank of the layout
     */
    public static List<List<Integer>> groupsOverHosts(List<NodeSpec> nodes, ParallelLayout layout) {
        NodeSpec[] nodeOfRank = new NodeSpec[layout.worldSize()];
        nodes.forEach(node -> node.ranks().forEach(rank -> nodeOfRank[rank] = node));
        return layout.groups(GroupKind.TENSOR).stream().filter(group -> IntStream.range(1, group.size())
                .anyMatch(i -> !nodeOfRank[group.get(i)].isOn(nodeOfRank[group.get(0)].host()))).toList();
    }
}
