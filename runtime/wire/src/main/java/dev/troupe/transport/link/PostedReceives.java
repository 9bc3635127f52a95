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
import java.util.function.IntUnaryOperator;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * The receiver's queues: the granted buffers of each edge, the filled part of the first one, and the credits to send. A
 * fragment is written only into the oldest buffer of its edge, and only if it fits and continues the filled part. No Aeron,
 * no thread, no clock.
 */
final class PostedReceives {
    private final Long2ObjectHashMap<IncomingEdge> edges = new Long2ObjectHashMap<>();
    private final List<ArrayDeque<IncomingEdge>> creditsDueByNode = new ArrayList<>();
    private final IntUnaryOperator nodeOfRank;
    private final Events events;
    private final Losses losses;
    private final Landing own = new Landing();
    private final List<IncomingEdge> edgesInUse = new ArrayList<>();
    private int epoch;
    /** The number of times that all buffers were returned. */
    private int clearings;

    /** The results of frames and epochs. */
    interface Events {
        /** A message is complete: its rows are at the beginning of a buffer. */
        void landed(MessageId id, Tensor tensor, int rows);

        void returned(Edge edge, Tensor tensor);

        /** A message is lost; called once for each message. */
        void lost(Edge edge, DropReason reason, String sentence);

        /**
         * A message from a node may be damaged or lost, and this rank waits for messages from the node.
         *
         * @param why the cause, as the beginning of a sentence
         */
        void damaged(int node, int rank, String why);
    }

    /**
     * A granted buffer.
     *
     * @param epoch the epoch for which it is granted
     * @param free reached once the engine no longer uses the buffer
     * @param owner receives the buffer if the grant is too late, since its rank may have moved by then
     */
    record Buffer(int epoch, Edge edge, Engine engine, Tensor tensor, Fence free, long sinceNanos,
            TransportListener owner) implements TransportAgent.Command {
    }

    /** Returns whether a fence is reached, or its engine has failed, which the next call of the engine reports. */
    static boolean isReached(Fence fence) {
        try {
            return fence.isReached();
        } catch (RuntimeException failed) {
            return true;
        }
    }

    PostedReceives(int nodeCount, IntUnaryOperator nodeOfRank, Events events) {
        for (int node = 0; node < nodeCount; node++) {
            creditsDueByNode.add(new ArrayDeque<>());
        }
        this.nodeOfRank = nodeOfRank;
        this.events = events;
        this.losses = new Losses(nodeOfRank, events);
    }

    /** Takes a granted buffer; returns false, without taking it, if its epoch has passed. */
    boolean grant(Buffer buffer) {
        if (buffer.epoch < epoch) {
            return false;
        }
        IncomingEdge edge = edgeOf(buffer.edge);
        if (!edge.inUse.isEmpty()) {
            edge.inUse.add(buffer);
        } else if (isReached(buffer.free)) {
            post(edge, buffer);
        } else {
            edge.inUse.add(buffer);
            edgesInUse.add(edge);
        }
        return true;
    }

    private void post(IncomingEdge edge, Buffer buffer) {
        edge.buffers.add(buffer);
        if (edge.creditsDue++ == 0) {
            creditsDueByNode.get(nodeOfRank.applyAsInt(edge.edge.fromRank())).addLast(edge);
        }
    }

    /** Turns buffers that their engines no longer use into credits; returns their number. */
    int freed() {
        int count = 0;
        for (int i = edgesInUse.size() - 1; i >= 0; i--) {
            IncomingEdge edge = edgesInUse.get(i);
            while (!edge.inUse.isEmpty() && isReached(edge.inUse.peekFirst().free)) {
                post(edge, edge.inUse.pollFirst());
                count++;
            }
            if (edge.inUse.isEmpty()) {
                edgesInUse.remove(i);
            }
        }
        return count;
    }

    /** Returns whether an engine still uses a granted buffer. */
    boolean awaitsEngine() {
        return !edgesInUse.isEmpty();
    }

    /** Returns an edge with credits to send to this node, or null. */
    IncomingEdge nextCreditDue(int node) {
        return creditsDueByNode.get(node).peekFirst();
    }

    /** Records that the credits of {@link #nextCreditDue} are sent. */
    void creditSent(int node) {
        creditsDueByNode.get(node).pollFirst().creditsDue = 0;
    }

    /**
     * Writes a fragment into its buffer.
     *
     * @return null if the fragment is written; otherwise the reason to drop it
     */
    DropReason land(Frame frame) {
        DropReason refused = admit(frame, own);
        return refused == null ? land(own, frame.payload()) : refused;
    }

    /** Writes a fragment with a payload in a tensor of this process; returns as {@link #land(Frame)}. */
    DropReason land(Frame frame, HandOvers.Piece piece) {
        DropReason refused = admit(frame, own);
        return refused == null ? land(own, null, piece) : refused;
    }

    /**
     * Finds the place of a fragment; its payload may arrive later.
     *
     * @return null if the fragment may be written; otherwise the reason to drop it
     */
    DropReason admit(Frame frame, Landing place) {
        if (frame.epoch() != epoch) {
            return frame.epoch() < epoch ? DropReason.OLD_EPOCH : DropReason.FUTURE_EPOCH;
        }
        IncomingEdge edge = edgeOf(frame.edgeKey(), frame);
        losses.noticeMissing(edge, frame, epoch);
        if (frame.fragmentOffset() != (edge.isContinuedBy(frame) ? edge.filled : 0)) {
            return outOfOrder(edge, frame);
        }
        if (frame.fragmentOffset() == 0) {
            DropReason refused = begin(edge, frame);
            if (refused != null) {
                return refused;
            }
        }
        Buffer buffer = edge.buffers.peekFirst();
        if (!frame.fits(buffer.tensor().dataType(), buffer.tensor().shape(), edge.rows)) {
            edge.filled = 0;
            return losses.lose(edge, frame.id(), DropReason.WRONG_SHAPE,
                    "a buffer of " + buffer.tensor().dataType() + " " + buffer.tensor().shape()
                            + " was granted, but the message has " + frame.layout());
        }
        place.edge = edge;
        place.buffer = buffer;
        place.pass = frame.pass();
        place.microbatch = frame.microbatch();
        place.rows = edge.rows;
        place.offset = frame.fragmentOffset();
        place.length = frame.fragmentLength();
        place.byteCount = frame.byteCount();
        place.clearings = clearings;
        return null;
    }

    /** Returns whether the buffer of a fragment still belongs to the transport. */
    boolean isOpen(Landing place) {
        return place.clearings == clearings;
    }

    /** Writes the payload of an open fragment into its buffer; returns as {@link #land(Frame)}. */
    DropReason land(Landing place, MemorySegment payload) {
        return land(place, payload, null);
    }

    private DropReason land(Landing place, MemorySegment payload, HandOvers.Piece piece) {
        Engine engine = place.buffer.engine();
        Tensor tensor = place.buffer.tensor();
        try {
            if (piece == null) {
                engine.fromHost(payload, tensor, place.offset, Fence.REACHED).await();
            } else {
                piece.copyTo(engine, tensor);
            }
        } catch (RuntimeException e) {
            return failed(place, e);
        }
        return landed(place);
    }

    /** Handles a payload that could not be written to its buffer; returns the reason to drop it. */
    DropReason failed(Landing place, RuntimeException failure) {
        place.edge.filled = 0;
        return losses.lose(place.edge, idOf(place), DropReason.LANDING_FAILED,
                "its payload could not be copied into the buffer: " + failure);
    }

    private MessageId idOf(Landing place) {
        return new MessageId(epoch, place.pass, place.edge.edge, place.microbatch);
    }

    /** Records that a device is copying the payload of a fragment; {@link #copied} follows. */
    void begun(Landing place) {
        IncomingEdge edge = place.edge;
        edge.firstBegun = place.offset == 0 ? place : edge.firstBegun;
        place.firstOfMessage = edge.firstBegun;
        edge.filled += place.length;
        place.isLast = edge.filled == place.byteCount;
        if (place.isLast) {
            edge.filled = 0;
            edge.beingCopied.add(edge.buffers.pollFirst());
        }
    }

    /**
     * Records the end of a device's copy to an open buffer.
     *
     * @param failure the failure of the copy; null if it succeeded
     * @return null, or the reason to drop the fragment
     */
    DropReason copied(Landing place, RuntimeException failure) {
        IncomingEdge edge = place.edge;
        if (failure != null && !place.firstOfMessage.isBroken) {
            place.firstOfMessage.isBroken = true; // its buffer stays the transport's until the epoch ends
            if (edge.buffers.peekFirst() == place.buffer) {
                edge.filled = 0;
            }
            return losses.lose(edge, idOf(place), DropReason.LANDING_FAILED,
                    "a device could not copy its payload into the buffer: " + failure);
        }
        if (place.isLast && !place.firstOfMessage.isBroken) {
            edge.beingCopied.remove(place.buffer);
            events.landed(idOf(place), place.buffer.tensor(), place.rows);
        }
        return null;
    }

    /** Records that the payload of an open fragment is in its buffer; returns null, since nothing is dropped. */
    DropReason landed(Landing place) {
        IncomingEdge edge = place.edge;
        edge.filled += place.length;
        if (edge.filled == place.byteCount) {
            edge.filled = 0;
            edge.buffers.pollFirst();
            events.landed(idOf(place), place.buffer.tensor(), place.rows);
        }
        return null;
    }

    /** Reports a damaged or lost frame from a node to every rank that waits for a message from there. */
    void damaged(int node, String why) {
        losses.damaged(node, why, edges.values());
    }

    private DropReason begin(IncomingEdge edge, Frame frame) {
        if (edge.filled > 0) {
            losses.lose(edge, new MessageId(epoch, edge.pass, edge.edge, edge.microbatch), DropReason.OUT_OF_ORDER,
                    "only " + edge.filled + " of its bytes came before the next message began");
            edge.filled = 0;
        }
        if (edge.buffers.isEmpty()) {
            return losses.lose(edge, frame.id(), DropReason.NO_BUFFER, "no buffer is granted for it");
        }
        edge.pass = frame.pass();
        edge.microbatch = frame.microbatch();
        edge.rows = frame.rows();
        return null;
    }

    private DropReason outOfOrder(IncomingEdge edge, Frame frame) {
        if (edge.isContinuedBy(frame) && frame.fragmentOffset() < edge.filled) {
            // The fragment arrived twice, and the filled part of the buffer is still good.
            return DropReason.OUT_OF_ORDER;
        }
        long expected = edge.isContinuedBy(frame) ? edge.filled : 0;
        edge.filled = 0;
        return losses.lose(edge, frame.id(), DropReason.OUT_OF_ORDER,
                "the fragment at byte " + expected + " was expected, but found that at byte " + frame.fragmentOffset());
    }

    /** Begins an epoch: every buffer is returned. */
    void epoch(int newEpoch) {
        epoch = newEpoch;
        clear();
    }

    /** Returns every buffer, after all devices' copies have ended, and clears the queues. */
    void clear() {
        List<IncomingEdge> old = new ArrayList<>(edges.values());
        clearings++;
        edges.clear();
        edgesInUse.clear();
        creditsDueByNode.forEach(ArrayDeque::clear);
        losses.clear();
        for (IncomingEdge edge : old) {
            edge.buffers.forEach(buffer -> events.returned(edge.edge, buffer.tensor()));
            edge.inUse.forEach(buffer -> events.returned(edge.edge, buffer.tensor()));
            edge.beingCopied.forEach(buffer -> events.returned(edge.edge, buffer.tensor()));
        }
    }

    Iterable<IncomingEdge> edges() {
        return edges.values();
    }

    private IncomingEdge edgeOf(Edge edge) {
        long key = edge.key();
        IncomingEdge known = edges.get(key);
        if (known == null) {
            known = new IncomingEdge(edge);
            edges.put(key, known);
        }
        return known;
    }

    private IncomingEdge edgeOf(long key, Frame frame) {
        IncomingEdge known = edges.get(key);
        return known != null ? known : edgeOf(frame.edge());
    }
}
