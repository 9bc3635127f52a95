package dev.troupe.run.cluster.machine;

import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Edge;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The nodes that exchange tensors over the transport. */
final class Peers {
    private Peers() {
    }

    /** Returns the nodes with which a node exchanges boundary tensors and gradients of tied embeddings. */
    static Set<Integer> of(TrainingPlan plan, List<Integer> nodeOfRank, int self) {
        Set<Integer> peers = new TreeSet<>(Set.of(self));
        for (Edge edge : plan.edges()) {
            int from = nodeOfRank.get(edge.fromRank());
            int to = nodeOfRank.get(edge.toRank());
            if (from == self || to == self) {
                peers.add(from);
                peers.add(to);
            }
        }
        return peers;
    }
}
