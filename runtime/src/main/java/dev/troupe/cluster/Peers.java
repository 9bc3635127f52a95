package dev.troupe.cluster;

import dev.troupe.machine.Pass;
import dev.troupe.run.TrainingPlan;
import dev.troupe.schedule.Action;
import dev.troupe.transport.Edge;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Which nodes exchange tensors over the transport. */
final class Peers {
    private Peers() {
    }

    /**
     * The nodes that a node sends boundary tensors to or has some from: those of the other ends of its ranks' messages,
     * and of their tied embeddings.
     *
     * @param nodeOfRank
     *            for each rank its node
     */
    static Set<Integer> of(TrainingPlan plan, List<Integer> nodeOfRank, int self) {
        Set<Integer> peers = new TreeSet<>(Set.of(self));
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            if (nodeOfRank.get(rank) != self) {
                continue;
            }
            for (Pass.Kind kind : Pass.Kind.values()) {
                for (Action action : plan.row(kind, rank).actions()) {
                    if (action.kind().isMessage()) {
                        add(peers, plan.edgeOf(rank, action), nodeOfRank);
                    }
                }
            }
            for (int stage : plan.stagesOf(rank)) {
                if (plan.exchangesTiedGradient(stage)) {
                    add(peers, plan.tiedEdge(rank, stage, plan.otherTiedStage(stage)), nodeOfRank);
                }
            }
        }
        return peers;
    }

    private static void add(Set<Integer> peers, Edge edge, List<Integer> nodeOfRank) {
        peers.add(nodeOfRank.get(edge.fromRank()));
        peers.add(nodeOfRank.get(edge.toRank()));
    }
}
