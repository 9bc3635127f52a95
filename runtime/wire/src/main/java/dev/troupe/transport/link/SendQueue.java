package dev.troupe.transport.link;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.TransportListener;
import dev.troupe.transport.frame.Frame;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * The sender's queues: the waiting messages and the credits of each edge, and the order of edges. A message is sent when its
 * edge has a credit of its epoch and the message before it has left. Edges to one node alternate. No Aeron, no thread, no
 * clock.
 */
final class SendQueue {
    private final Long2ObjectHashMap<OutgoingEdge> edges = new Long2ObjectHashMap<>();
    private final List<ArrayDeque<OutgoingEdge>> readyByNode = new ArrayList<>();
    private final IntUnaryOperator nodeOfRank;
    private int epoch;

    /** A message to send. */
    static final class Outgoing implements TransportAgent.Command {
        final MessageId id;
        final Engine engine;
        final Tensor tensor;
        final long byteCount;
        final long sinceNanos;
        /** Receives the tensor if the message is too late, since its rank may have moved by then. */
        final TransportListener owner;
        private final Fence ready;
        /** The sent bytes of the message. */
        long position;
        /**
         * The number of pieces in flight from tensor to tensor or to a device's ring; until it is 0, the tensor is being
         * read.
         */
        int piecesInFlight;
        /** The reason why the tensor could not be read, or null. */
        RuntimeException failure;
        /** The time for which the message was first on its edge without a credit. */
        long creditNanos;
        /** The number of the message in its edge and epoch, from 0, in the order of sending; it wraps around. */
        int number;

        /** @param ready reached once the engine has computed the tensor */
        Outgoing(MessageId id, Engine engine, Tensor tensor, Fence ready, long sinceNanos,
                TransportListener owner) {
            this.id = id;
            this.engine = engine;
            this.tensor = tensor;
            this.ready = ready;
            this.owner = owner;
            this.byteCount = tensor.byteCount();
            this.sinceNanos = sinceNanos;
        }

        /** Returns whether the tensor can be read; true also if its engine has failed, which the read reports. */
        boolean isReady() {
            return PostedReceives.isReached(ready);
        }

        /** Copies the next bytes to send; the tensor must be ready. */
        void read(MemorySegment target) {
            engine.toHost(tensor, position, target, Fence.REACHED).await();
        }

        long remaining() {
            return byteCount - position;
        }
    }

    /** The sender's end of an edge. */
    static final class OutgoingEdge {
        final Edge edge;
        final ArrayDeque<Outgoing> held = new ArrayDeque<>();
        Outgoing active;
        int creditEpoch;
        /** The time at which the previous message left. */
        long freeSinceNanos;
        int credits;
        int numberEpoch;
        int nextNumber;

        OutgoingEdge(Edge edge) {
            this.edge = edge;
        }
    }

    SendQueue(int nodeCount, IntUnaryOperator nodeOfRank) {
        for (int node = 0; node < nodeCount; node++) {
            readyByNode.add(new ArrayDeque<>());
        }
        this.nodeOfRank = nodeOfRank;
    }

    /** Adds a message; returns false, without adding it, if its epoch has passed. */
    boolean send(Outgoing message) {
        if (message.id.epoch() < epoch) {
            return false;
        }
        OutgoingEdge edge = edgeOf(message.id.edge());
        edge.held.add(message);
        letGo(edge, message.sinceNanos);
        return true;
    }

    /**
     * Adds credits. Credits of a future epoch are kept, since the receiver may enter an epoch first.
     *
     * @param now the time, on the clock of the messages
     * @return null, or the reason to refuse the credits
     */
    DropReason credit(Edge on, int creditEpoch, int count, long now) {
        if (creditEpoch < epoch) {
            return DropReason.OLD_EPOCH;
        }
        OutgoingEdge edge = edgeOf(on);
        if (creditEpoch < edge.creditEpoch) {
            return DropReason.OLD_EPOCH;
        }
        if (creditEpoch > edge.creditEpoch) {
            edge.creditEpoch = creditEpoch;
            edge.credits = 0;
        }
        if (count > Frame.MAX_CREDITS - edge.credits) {
            return DropReason.BAD_FIELD;
        }
        edge.credits += count;
        letGo(edge, now);
        return null;
    }

    /** Returns the next message to a node, or null. */
    Outgoing next(int node) {
        OutgoingEdge edge = readyByNode.get(node).peekFirst();
        return edge == null ? null : edge.active;
    }

    /** Moves the first edge to the end of the queue. */
    void passTurn(int node) {
        ArrayDeque<OutgoingEdge> ready = readyByNode.get(node);
        if (ready.size() > 1) {
            ready.addLast(ready.pollFirst());
        }
    }

    /** Removes the first message, which has left or failed. */
    void finish(int node, long now) {
        OutgoingEdge edge = readyByNode.get(node).pollFirst();
        edge.active = null;
        edge.freeSinceNanos = now;
        letGo(edge, now);
    }

    /** Begins an epoch, in which ranks may be on other nodes; returns all messages of earlier epochs. */
    void epoch(int newEpoch, Consumer<Outgoing> returned) {
        epoch = newEpoch;
        readyByNode.forEach(ArrayDeque::clear);
        List<Outgoing> back = new ArrayList<>();
        for (OutgoingEdge edge : edges.values()) {
            if (edge.active != null && edge.active.id.epoch() < newEpoch) {
                back.add(edge.active);
                edge.active = null;
            } else if (edge.active != null) {
                ready(edge);
            }
            edge.held.removeIf(message -> message.id.epoch() < newEpoch && back.add(message));
            if (edge.creditEpoch < newEpoch) {
                edge.creditEpoch = newEpoch;
                edge.credits = 0;
            }
            letGo(edge, Long.MIN_VALUE);
        }
        // Returned last, with the queues consistent, since the listener may send more.
        back.forEach(returned);
    }

    /** Returns every message and clears the queues. */
    void clear(Consumer<Outgoing> returned) {
        List<Outgoing> back = new ArrayList<>();
        for (OutgoingEdge edge : edges.values()) {
            if (edge.active != null) {
                back.add(edge.active);
            }
            back.addAll(edge.held);
        }
        edges.clear();
        readyByNode.forEach(ArrayDeque::clear);
        back.forEach(returned);
    }

    Iterable<OutgoingEdge> edges() {
        return edges.values();
    }

    private void letGo(OutgoingEdge edge, long now) {
        Outgoing head = edge.held.peekFirst();
        if (edge.active == null && head != null && edge.credits > 0 && edge.creditEpoch == head.id.epoch()) {
            edge.credits--;
            edge.active = edge.held.pollFirst();
            head.creditNanos = Math.max(0, now - Math.max(head.sinceNanos, edge.freeSinceNanos));
            number(edge);
            ready(edge);
        }
    }

    /** Numbers a message within its own epoch, which may not have begun here. */
    private static void number(OutgoingEdge edge) {
        int itsEpoch = edge.active.id.epoch();
        if (edge.numberEpoch != itsEpoch) {
            edge.numberEpoch = itsEpoch;
            edge.nextNumber = 0;
        }
        edge.active.number = edge.nextNumber++;
    }

    private void ready(OutgoingEdge edge) {
        readyByNode.get(nodeOfRank.applyAsInt(edge.edge.toRank())).addLast(edge);
    }

    private OutgoingEdge edgeOf(Edge edge) {
        long key = edge.key();
        OutgoingEdge known = edges.get(key);
        if (known == null) {
            known = new OutgoingEdge(edge);
            edges.put(key, known);
        }
        return known;
    }
}
