package dev.troupe.protocol.run;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The reports of failed ranks on their way to the coordinator; each rank's reports arrive in their order. */
final class RankFailures {
    private final SimulatedCluster cluster;
    private final List<Deque<SimulatedRank>> reports = new ArrayList<>();
    private final List<Move> moves = new ArrayList<>();

    RankFailures(int rankCount, SimulatedCluster cluster) {
        this.cluster = cluster;
        for (int rank = 0; rank < rankCount; rank++) {
            Deque<SimulatedRank> ofRank = new ArrayDeque<>();
            reports.add(ofRank);
            moves.add(new Move("the coordinator hears that rank " + rank + " failed", () -> arrive(ofRank.remove())));
        }
    }

    /** Reports an incarnation; returns true. */
    boolean report(SimulatedRank victim) {
        return reports.get(victim.rank()).add(victim);
    }

    private void arrive(SimulatedRank victim) {
        cluster.coordinatorOf(victim.node()).ask(new RunEvent.RankFailed(victim.incarnation(), "it failed"));
    }

    void loseReports(SimulatedNode node) {
        reports.forEach(ofRank -> ofRank.removeIf(rank -> rank.node() == node));
    }

    void addMoves(List<Move> all) {
        for (int rank = 0; rank < moves.size(); rank++) {
            if (!reports.get(rank).isEmpty() && cluster.reachesCoordinator(reports.get(rank).getFirst().node())) {
                all.add(moves.get(rank));
            }
        }
    }
}
