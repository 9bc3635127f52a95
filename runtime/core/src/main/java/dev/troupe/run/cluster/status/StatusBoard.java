package dev.troupe.run.cluster.status;

import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.pekko.actor.AbstractExtensionId;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.Extension;

/** The status that a node's management port returns. Thread rule: any thread. */
public final class StatusBoard implements Extension {
    private static final Id ID = new Id();

    private volatile NodeStatus status = NodeStatus.of("", List.of());

    private StatusBoard() {
    }

    private static final class Id extends AbstractExtensionId<StatusBoard> {
        @Override
        public StatusBoard createExtension(ExtendedActorSystem system) {
            return new StatusBoard();
        }
    }

    public static StatusBoard of(ActorSystem system) {
        return ID.get(system);
    }

    NodeStatus status() {
        return status;
    }

    public void set(NodeStatus now) {
        status = now;
    }

    public synchronized void change(UnaryOperator<NodeStatus> change) {
        status = change.apply(status);
    }
}
