package dev.troupe.transport.aeron;

import dev.troupe.transport.NodeMap;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.TransportListener;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The commands of other threads to the transport thread. A message and a buffer are the commands that hand them over. */
sealed interface Command
        permits Command.Register, Command.Epoch, Command.Pending, SendQueue.Outgoing, PostedReceives.Buffer {
    record Register(int rank, TransportListener listener) implements Command {
    }

    /** An epoch, with the nodes of the ranks in it. */
    record Epoch(int epoch, NodeMap nodes) implements Command {
    }

    record Pending(CompletableFuture<List<PendingTransfer>> answer) implements Command {
    }
}
