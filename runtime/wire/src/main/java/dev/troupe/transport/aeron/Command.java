package dev.troupe.transport.aeron;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.troupe.protocol.Edge;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.TransportListener;

/** The commands of other threads to the transport thread. */
sealed interface Command {
    record Register(int rank, TransportListener listener) implements Command {
    }

    /** The owner gets a late buffer back, since its rank may have moved to another node by then. */
    record Grant(int epoch, Edge edge, PostedReceives.Buffer buffer, TransportListener owner)
            implements
                Command {
    }

    /** As {@link Grant}. */
    record Send(SendQueue.Outgoing message, TransportListener owner)
            implements
                Command {
    }

    /** An epoch, with the nodes of the ranks in it. */
    record Epoch(int epoch, NodeMap nodes) implements Command {
    }

    record Pending(CompletableFuture<List<PendingTransfer>> answer) implements Command {
    }
}
