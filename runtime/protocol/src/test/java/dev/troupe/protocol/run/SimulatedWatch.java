package dev.troupe.protocol.run;

import dev.troupe.protocol.membership.MembershipEvent;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A coordinator's watch over processes: it reports their ends to the membership, late, and once wrongly for a process that
 * came back; and it looks again at a process of which the membership doubts the end.
 */
final class SimulatedWatch {
    private final String host;
    private final SimulatedCluster cluster;
    private final Consumer<MembershipEvent<SimulatedNode>> membership;
    private final Set<SimulatedNode> watched = new LinkedHashSet<>();
    private final Deque<SimulatedNode> looksAgain = new ArrayDeque<>();
    private final Set<SimulatedNode> wronged = new HashSet<>();

    /** @param host the name of the coordinator's process */
    SimulatedWatch(String host, SimulatedCluster cluster, Consumer<MembershipEvent<SimulatedNode>> membership) {
        this.host = host;
        this.cluster = cluster;
        this.membership = membership;
    }

    void on(SimulatedNode node) {
        watched.add(node);
    }

    void again(SimulatedNode node) {
        looksAgain.add(node);
    }

    void addMoves(List<Move> moves) {
        for (SimulatedNode node : watched) {
            if (cluster.isGone(node)) {
                moves.add(new Move(host + " hears that " + node.name() + " has ended", () -> ended(node)));
            } else if (node.isSuccessor() && !wronged.contains(node)) {
                moves.add(new Move(host + " hears wrongly that " + node.name() + " has ended", () -> {
                    wronged.add(node);
                    ended(node);
                }));
            }
        }
        if (!looksAgain.isEmpty()) {
            moves.add(new Move(host + " looks at " + looksAgain.getFirst().name() + " again", this::lookAgain));
        }
    }

    private void ended(SimulatedNode node) {
        watched.remove(node);
        membership.accept(new MembershipEvent.Ended<>(node, node.name(), false));
    }

    private void lookAgain() {
        SimulatedNode node = looksAgain.remove();
        if (cluster.isGone(node)) {
            membership.accept(new MembershipEvent.Ended<>(node, node.name(), true));
        } else {
            watched.add(node);
        }
    }
}
