package dev.troupe.config;

import dev.troupe.config.ClusterReader.Draft;
import dev.troupe.config.cluster.NodePlacement;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.config.spec.EngineSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.config.value.Values;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The checks of the nodes of a cluster against each other and against the world size. */
final class ClusterChecks {
    private static final String EMULATED = "emulated";
    private static final int MOST_NUMBERED = 20;

    private final Values values;
    private final List<Draft> drafts;

    /**
     * Creates the checks.
     *
     * @param values reports problems that concern no single node
     * @param drafts every node, at least one
     */
    ClusterChecks(Values values, List<Draft> drafts) {
        this.values = values;
        this.drafts = drafts;
    }

    void names() {
        Map<String, String> owners = new HashMap<>();
        for (Draft draft : drafts) {
            String name = draft.node().name();
            if (!draft.values().sound("name")) {
                continue;
            }
            String owner = owners.putIfAbsent(name, draft.values().name("name"));
            if (owner != null) {
                draft.values().report("name", "a name of its own", '"' + name + "\", which " + owner + " has too",
                        "rename one of them");
            }
        }
    }

    /** Requires one spelling of each host, since nodes share a media driver if their hosts are the same word. */
    void hosts() {
        Map<String, Draft> firsts = new HashMap<>();
        for (Draft draft : drafts) {
            Draft first = firsts.putIfAbsent(draft.node().machine(), draft);
            if (first != null && draft.values().sound("host") && !first.node().host().equals(draft.node().host())) {
                draft.values().report("host", first.node().host() + ", as " + first.values().name("host") + " has it",
                        "write one host one way");
            }
        }
    }

    /** A use of a port by a node. */
    private record PortUse(Draft draft, String key, int port) {
        String where() {
            return draft.values().name(key);
        }
    }

    /** Compares ports of TCP and of UDP alike, so that firewall rules and the file are easier to read. */
    void ports() {
        Map<String, PortUse> firsts = new HashMap<>();
        for (Draft draft : drafts) {
            NodeSpec node = draft.node();
            for (PortUse use : List.of(new PortUse(draft, "control-port", node.controlPort()),
                    new PortUse(draft, "data-port", node.dataPort()),
                    new PortUse(draft, "management-port", node.managementPort()))) {
                if (use.port() == 0 || node.host().isEmpty() || !draft.values().sound(use.key())) {
                    continue;
                }
                PortUse first = firsts.putIfAbsent(node.machine() + ":" + use.port(), use);
                if (first != null) {
                    draft.values().report(use.key(), "a port of its own on " + node.host(),
                            use.port() + ", which " + first.where() + " has too", "choose another");
                }
            }
        }
    }

    void engines(TrainingSpec.Precision precision) {
        long emulated = drafts.stream().filter(draft -> draft.node().engine().kind().equals(EMULATED)).count();
        for (Draft draft : drafts) {
            Values node = draft.values();
            String kind = draft.node().engine().kind();
            if (!node.isGiven("engine") || !node.sound("engine")) {
                continue;
            }
            if (precision == TrainingSpec.Precision.FLOAT64 && !EngineSpec.mayComputeInFloat64(kind)) {
                node.report("engine", "nd4j or reference with training.precision = float64",
                        "set it to one that computes in float64, or the precision to float32");
            } else if (emulated > 0 && emulated < drafts.size()) {
                node.report("engine", "emulated on all nodes or on none",
                        "it computes nothing, which others would take for results");
            }
        }
    }

    /** Returns whether no problem was found. */
    boolean standbys() {
        boolean isRight = true;
        for (Draft draft : drafts) {
            boolean hasRanks = !draft.node().ranks().isEmpty();
            if (draft.node().standby() && hasRanks) {
                draft.values().report("ranks", "none, since the node is a standby",
                        "take them out, or standby = true");
            } else if (!draft.node().standby() && draft.isPlaced() && draft.values().sound("ranks") && !hasRanks) {
                draft.values().report("ranks", "one rank or more",
                        "leave ranks out to have them placed, or write standby = true");
            }
            isRight &= draft.values().sound("ranks", "standby");
        }
        if (drafts.stream().allMatch(draft -> draft.node().standby())) {
            values.report("cluster.nodes", "one node or more that is no standby", "standbys only",
                    "take standby = true out of one");
            return false;
        }
        return isRight;
    }

    /** Returns whether every named rank exists and is named once, and some node takes the others. */
    boolean ranks(ParallelLayout layout) {
        String world = layout.replicas().isEmpty()
                ? "pipeline x data x tensor = " + layout.pipeline() + " x " + layout.data() + " x " + layout.tensor()
                : "replicas " + layout.replicas() + " x tensor = " + layout.tensor();
        boolean isRight = true;
        Map<Integer, Draft> owners = new HashMap<>();
        for (Draft draft : drafts) {
            for (int rank : draft.node().ranks()) {
                String found = null;
                String hint = "take it out of one of them";
                if (rank >= layout.worldSize()) {
                    found = "rank " + rank;
                    hint = "take it out, or change a degree";
                } else if (owners.containsKey(rank)) {
                    Draft owner = owners.get(rank);
                    found = "rank " + rank
                            + (owner == draft ? " twice" : ", which " + owner.values().name("ranks") + " has too");
                }
                owners.putIfAbsent(rank, draft);
                if (found != null) {
                    draft.values().report("ranks", "ranks from 0 to " + (layout.worldSize() - 1) + " (" + world
                            + "), each on one node", found, hint);
                    isRight = false;
                }
            }
        }
        List<Integer> nowhere = IntStream.range(0, layout.worldSize()).filter(rank -> !owners.containsKey(rank))
                .boxed().toList();
        if (!nowhere.isEmpty() && drafts.stream().allMatch(Draft::isPlaced)) {
            values.report("cluster.nodes", "a node for every rank of " + world, "none for " + numbered(nowhere),
                    "add what is missing to the ranks of a node, or leave ranks out of one to have it take the rest");
            isRight = false;
        }
        return isRight;
    }

    private static String numbered(List<Integer> ranks) {
        int more = ranks.size() - MOST_NUMBERED;
        return (ranks.size() == 1 ? "rank " : "ranks ")
                + ranks.stream().limit(MOST_NUMBERED).map(String::valueOf).collect(Collectors.joining(", "))
                + (more > 0 ? " and " + more + " more" : "");
    }

    /** Checks nodes that together hold every rank. */
    void placement(List<NodeSpec> nodes, ParallelLayout layout, boolean maySplit) {
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.get(i).ranks().isEmpty() && !nodes.get(i).standby()) {
                drafts.get(i).values().report("ranks", "ranks to place on the node",
                        "none left, since whole tensor groups are placed (parallel.tensor = " + layout.tensor() + ")",
                        "take the node out, write standby = true, or share the ranks out by hand");
            }
        }
        if (maySplit) {
            return;
        }
        for (List<Integer> group : NodePlacement.groupsOverHosts(nodes, layout)) {
            int first = indexOfHolder(nodes, group.getFirst());
            int other = group.stream().mapToInt(rank -> indexOfHolder(nodes, rank))
                    .filter(index -> !nodes.get(index).isOn(nodes.get(first).host())).findFirst().orElseThrow();
            if (drafts.get(other).values().sound("ranks")) {
                drafts.get(other).values().report("ranks", "tensor groups within one host",
                        "ranks " + group + " of one group on " + nodes.get(first).host() + " and "
                                + nodes.get(other).host(),
                        "put them together, or set cluster.split-tensor-groups = true if the network is fast enough");
            }
        }
    }

    private static int indexOfHolder(List<NodeSpec> nodes, int rank) {
        return IntStream.range(0, nodes.size()).filter(index -> nodes.get(index).ranks().contains(rank)).findFirst()
                .orElseThrow();
    }
}
