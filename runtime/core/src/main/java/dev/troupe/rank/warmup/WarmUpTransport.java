package dev.troupe.rank.warmup;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportCounters;
import dev.troupe.transport.TransportListener;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/**
 * The transport of one rank alone: its sends are read at once, and a message to it arrives as soon as it grants a buffer.
 * The message's content is whatever the buffer contains. Thread rule: the thread of the rank's warm-up run; the listener is
 * called on it too.
 */
public final class WarmUpTransport implements Transport {
    /**
     * A message to the rank.
     *
     * @param rows the first size of its shape
     */
    public record Message(MessageId id, int rows) {
    }

    private final Map<Edge, Queue<Message>> coming = new HashMap<>();
    private final Map<Edge, Queue<Tensor>> buffers = new HashMap<>();
    private TransportListener listener;

    /** Sends messages to the rank; messages of one edge land in this order. */
    public void bring(List<Message> messages) {
        for (Message message : messages) {
            Edge edge = message.id().edge();
            coming.computeIfAbsent(edge, _ -> new ArrayDeque<>()).add(message);
            land(edge);
        }
    }

    private void land(Edge edge) {
        Queue<Message> messages = coming.getOrDefault(edge, new ArrayDeque<>());
        Queue<Tensor> granted = buffers.getOrDefault(edge, new ArrayDeque<>());
        if (!messages.isEmpty() && !granted.isEmpty()) {
            Message message = messages.remove();
            listener.onLanded(message.id(), granted.remove(), message.rows());
        }
    }

    @Override
    public void register(int rank, TransportListener ofRank) {
        listener = ofRank;
    }

    @Override
    public void grant(int epoch, Edge edge, Engine engine, Tensor buffer) {
        buffers.computeIfAbsent(edge, _ -> new ArrayDeque<>()).add(buffer);
        land(edge);
    }

    @Override
    public void send(MessageId id, Engine engine, Tensor tensor) {
        listener.onSent(id, tensor, 0);
    }

    @Override
    public void epoch(int epoch) {
        throw new UnsupportedOperationException("a warm-up run has one epoch");
    }

    @Override
    public void epoch(int epoch, NodeMap nodes) {
        epoch(epoch);
    }

    @Override
    public List<PendingTransfer> pending() {
        return List.of();
    }

    @Override
    public TransportCounters counters() {
        return TransportCounters.NONE;
    }

    @Override
    public void close() {
        coming.clear();
        buffers.clear();
    }
}
