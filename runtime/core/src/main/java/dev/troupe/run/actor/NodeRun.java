package dev.troupe.run.actor;

import dev.troupe.protocol.node.NodeCommand;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.node.RankGroup;
import dev.troupe.transport.Transport;
import java.util.Set;
import org.apache.pekko.actor.typed.Terminated;

/** The run of a node: not open, or hosted. Thread rule: the node's actor. */
sealed interface NodeRun permits NodeRun.NotOpen, HostedRun {
    void perform(NodeCommand.OfRun command);

    NodeEvent ended(Terminated signal);

    /** Closes the transport, and ends all groups: no rank waits for another. */
    void letGo();

    /** Frees all memory, except the memory of these groups, which have not ended. */
    void close(Set<RankGroup> running);

    record NotOpen(Transport transport) implements NodeRun {
        @Override
        public void perform(NodeCommand.OfRun command) {
            throw new IllegalStateException(command + " before the node has opened a run");
        }

        @Override
        public NodeEvent ended(Terminated signal) {
            throw new IllegalStateException(signal + " before the node has started a rank");
        }

        @Override
        public void letGo() {
            transport.close();
        }

        @Override
        public void close(Set<RankGroup> running) {
            // There is no rank to wait for.
        }
    }
}
