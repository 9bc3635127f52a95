package dev.troupe.actor;

import dev.troupe.protocol.run.RunEvent;
import dev.troupe.rank.NodeContext;
import dev.troupe.rank.RankResources;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/**
 * Copies of snapshots as a node sees them: those it sends of what its own ranks keep, and those it has of others, of
 * which it tells the coordinator. Belongs to the node's actor.
 */
final class NodeCopies {
    private final String name;
    private final NodeContext node;
    private final Consumer<RunEvent> coordinator;

    /**
     * @param name
     *            of the node
     */
    NodeCopies(String name, NodeContext node, Consumer<RunEvent> coordinator) {
        this.name = name;
        this.node = node;
        this.coordinator = coordinator;
    }

    /** Sends what these ranks kept after so many steps, as far as it is here, to their buddies. */
    void send(Collection<RankResources> hosted, long stepsDone) {
        node.snapshots().ifPresent(kept -> hosted.forEach(rank -> rank.stages().stream()
                .filter(stage -> kept.find(rank.rank(), stage, stepsDone).isPresent())
                .forEach(stage -> node.copies().kept(rank.rank(), stage, stepsDone))));
    }

    /** What came before this node was told what to host, nobody here has heard of. */
    void tellAll(List<String> buddies, long stepsDone) {
        for (int rank = 0; rank < buddies.size(); rank++) {
            if (buddies.get(rank).equals(name)) {
                tell(rank, stepsDone);
            }
        }
    }

    /** The coordinator hears of a rank when all its stages are here. */
    void tell(int rank, long stepsDone) {
        if (NodeView.hasAll(node.plan(), node.snapshots().orElseThrow(), rank, stepsDone)) {
            coordinator.accept(new RunEvent.Copied(rank, name, stepsDone));
        }
    }
}
