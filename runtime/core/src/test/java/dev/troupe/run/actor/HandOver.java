package dev.troupe.run.actor;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportCounters;
import dev.troupe.transport.TransportListener;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A transport within one JVM: one thread copies each message into the buffer that was granted for it. */
final class HandOver implements Transport {
    private record Held(MessageId id, Engine engine, Tensor tensor) {
    }

    private static final class Road {
        private final Queue<Held> buffers = new ArrayDeque<>();
        private final Queue<Held> messages = new ArrayDeque<>();
    }

    private final int missingRows;
    // All state is the thread's own.
    private final ExecutorService thread = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
    private final Map<Integer, TransportListener> listeners = new HashMap<>();
    private final Map<Edge, Road> roads = new HashMap<>();

    HandOver() {
        this(0);
    }

    /**
     * @param missingRows the rows by which each message is announced too short
     */
    HandOver(int missingRows) {
        this.missingRows = missingRows;
    }

    @Override
    public void register(int rank, TransportListener listener) {
        thread.execute(() -> listeners.put(rank, listener));
    }

    @Override
    public void grant(int epoch, Edge edge, Engine engine, Tensor buffer) {
        thread.execute(() -> {
            road(edge).buffers.add(new Held(null, engine, buffer));
            carry(edge);
        });
    }

    @Override
    public void send(MessageId id, Engine engine, Tensor tensor) {
        thread.execute(() -> {
            road(id.edge()).messages.add(new Held(id, engine, tensor));
            carry(id.edge());
        });
    }

    private Road road(Edge edge) {
        return roads.computeIfAbsent(edge, _ -> new Road());
    }

    private void carry(Edge edge) {
        Road road = road(edge);
        while (!road.buffers.isEmpty() && !road.messages.isEmpty()) {
            Held message = road.messages.remove();
            Held buffer = road.buffers.remove();
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment bytes = arena.allocate(message.tensor().byteCount(), Long.BYTES);
                message.engine().copyToHost(message.tensor(), 0, bytes);
                buffer.engine().copyFromHost(bytes, buffer.tensor(), 0);
            }
            listeners.get(edge.fromRank()).onSent(message.id(), message.tensor(), 0);
            listeners.get(edge.toRank()).onLanded(message.id(), buffer.tensor(),
                    message.tensor().shape().size(0) - missingRows);
        }
    }

    @Override
    public void epoch(int epoch) {
        throw new UnsupportedOperationException("nothing is restarted in these tests");
    }

    /** All ranks come here, to a node without ranks: nothing is of an earlier epoch. */
    @Override
    public void epoch(int epoch, NodeMap nodes) {
        thread.execute(roads::clear);
    }

    @Override
    public List<PendingTransfer> pending() {
        return new ArrayList<>();
    }

    @Override
    public TransportCounters counters() {
        return TransportCounters.NONE;
    }

    @Override
    public void close() {
        thread.shutdown();
    }
}
