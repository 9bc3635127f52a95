package dev.troupe.transport.aeron;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.transport.Edge;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.TransportListener;

/** What other threads ask of the transport thread. */
sealed interface Command {
    record Register(int rank, TransportListener listener) implements Command {
    }

    record Grant(int epoch, Edge edge, Engine engine, Tensor buffer, long nanos) implements Command {
    }

    record Send(MessageId id, Engine engine, Tensor tensor, long nanos, boolean isDamaged) implements Command {
    }

    record Epoch(int epoch) implements Command {
    }

    record Pending(CompletableFuture<List<PendingTransfer>> answer) implements Command {
    }
}
