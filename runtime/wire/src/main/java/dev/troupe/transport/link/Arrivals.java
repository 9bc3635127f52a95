package dev.troupe.transport.link;

import dev.troupe.transport.Counters;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.frame.Frame;
import dev.troupe.wire.Ring;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.ProtocolException;
import java.util.Optional;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.NanoClock;

/**
 * The dispatcher of frames from other nodes: it reads and checks each frame, and passes it to a queue of this node or drops
 * and counts it. Belongs to the transport thread.
 */
final class Arrivals {
    private final Counters counters;
    private final NanoClock clock;
    private final RankListeners listeners;
    private final SendQueue sends;
    private final PostedReceives receives;
    private final Frame frameOfMachine = new Frame(false);
    private final Frame frameOfNetwork = new Frame(true);
    private final Frame header = new Frame(false);
    private NodeMap nodes;
    private int epoch;

    /** A payload that is neither in its frame nor in a ring of the host's memory. */
    interface Payload {
        /** Reads and checks the header; returns as {@link Frame#read}. */
        DropReason read(Frame frame, DirectBuffer buffer, int offset, int length);

        /** Copies the payload to its place, or begins to; returns as {@link PostedReceives#land(Frame)}. */
        DropReason land(PostedReceives receives, Frame frame);
    }

    Arrivals(NodeMap nodes, Counters counters, NanoClock clock, RankListeners listeners, SendQueue sends,
            PostedReceives receives) {
        this.nodes = nodes;
        this.counters = counters;
        this.clock = clock;
        this.listeners = listeners;
        this.sends = sends;
        this.receives = receives;
    }

    /** Begins an epoch, in which ranks may be on other nodes. */
    void epoch(int newEpoch, NodeMap newNodes) {
        epoch = newEpoch;
        nodes = newNodes;
    }

    /**
     * Handles a frame of a stream with payloads in a ring.
     *
     * @param ring the ring of the payload; null if the payload is in the frame
     * @param end the position after the payload in the ring
     */
    void onFrame(int fromNode, DirectBuffer buffer, int offset, int length, Ring ring, long end) {
        Frame frame = frameFrom(fromNode);
        take(fromNode, frame, frame.read(buffer, offset, length, ring, end), null, buffer, offset, length);
    }

    /**
     * Handles a frame of a stream.
     *
     * @param payload null if the payload is in the frame
     */
    void onFrame(int fromNode, DirectBuffer buffer, int offset, int length, Payload payload) {
        Frame frame = frameFrom(fromNode);
        DropReason reason = payload == null
                ? frame.read(buffer, offset, length)
                : payload.read(frame, buffer, offset, length);
        take(fromNode, frame, reason, payload, buffer, offset, length);
    }

    /**
     * Handles the end of a device's copy of a payload.
     *
     * @param failure the failure of the copy; null if it succeeded
     */
    void onCopied(int fromNode, Landing place, RuntimeException failure) {
        DropReason reason = receives.copied(place, failure);
        if (reason != null) {
            drop(reason, fromNode, place.length());
        }
    }

    private Frame frameFrom(int node) {
        return nodes.shareMachine(node, nodes.self()) ? frameOfMachine : frameOfNetwork;
    }

    private void take(int fromNode, Frame frame, DropReason misread, Payload payload, DirectBuffer buffer,
            int offset, int length) {
        DropReason reason = misread;
        if (reason == null) {
            // The epoch is checked first, since the ranks of an old frame may have been on other nodes.
            reason = frame.epoch() < epoch
                    ? DropReason.OLD_EPOCH
                    : frame.isCredit() ? takeCredit(fromNode, frame) : land(fromNode, frame, payload);
        }
        if (reason != null) {
            drop(reason, fromNode, length);
            if (reason == DropReason.BAD_CHECKSUM && frame.mayBeOfMessage(buffer, offset, length, epoch)) {
                onDamage(fromNode);
            }
        }
    }

    /**
     * Handles a header; its payload follows on the connection.
     *
     * @param place is set to the place of the payload if this returns true
     * @return whether the payload is wanted
     * @throws IOException if the header is damaged, so that the rest of the connection is unreadable
     */
    boolean onHeader(int fromNode, DirectBuffer buffer, int offset, int length, int payloadBytes,
            Landing place) throws IOException {
        DropReason reason = header.readHeader(buffer, offset, length, payloadBytes);
        if (reason != null && reason != DropReason.BAD_FIELD) {
            drop(reason, fromNode, length);
            onDamage(fromNode);
            throw new ProtocolException("a header of " + length + " bytes: " + reason);
        }
        boolean isPayload = reason == null && !header.isCredit();
        if (reason == null) {
            reason = header.epoch() < epoch
                    ? DropReason.OLD_EPOCH
                    : header.isCredit() ? takeCredit(fromNode, header) : admit(fromNode, place);
        }
        if (reason != null) {
            drop(reason, fromNode, length + payloadBytes);
        }
        return isPayload && reason == null;
    }

    private DropReason admit(int fromNode, Landing place) {
        return isKnown(fromNode, header) ? receives.admit(header, place) : DropReason.UNKNOWN_RANK;
    }

    /** Returns whether the buffer of a payload still belongs to the transport. */
    boolean isOpen(Landing place) {
        return receives.isOpen(place);
    }

    /**
     * Handles a payload that followed its header.
     *
     * @param isWhole whether its checksum is right
     * @param payload the payload; empty if it is already in its buffer
     */
    void onPayload(int fromNode, Landing place, boolean isWhole, Optional<MemorySegment> payload) {
        if (!isWhole) {
            drop(DropReason.BAD_CHECKSUM, fromNode, place.length());
            onDamage(fromNode);
            return;
        }
        int length = place.length();
        DropReason reason = payload.isEmpty() ? receives.landed(place) : receives.land(place, payload.get());
        if (reason == null) {
            counters.receivedBytes(length);
        } else {
            drop(reason, fromNode, length);
        }
    }

    private void onDamage(int fromNode) {
        receives.damaged(fromNode, "a frame from node " + fromNode + " does not fit its checksum");
    }

    /**
     * Handles the loss of frames with a connection.
     *
     * @param from the number of lost frames from the node
     * @param to the number of lost frames to the node
     */
    void onLost(int node, long from, long to) {
        receives.damaged(node, "the connection to node " + node + " broke, and lost " + from + " frames from there and "
                + to + " to there");
    }

    private void drop(DropReason reason, int fromNode, int length) {
        counters.drop(reason, fromNode, length, clock.nanoTime());
    }

    private DropReason takeCredit(int fromNode, Frame frame) {
        // The sender may have no listener yet: a receiver grants its first credits once, as soon as it is ready. Credits of
        // a future epoch are safe, since ranks that move in that epoch get other streams.
        boolean known = nodes.isLocal(frame.fromRank()) && isOnNode(frame.toRank(), fromNode);
        return known
                ? sends.credit(frame.edge(), frame.epoch(), frame.count(), clock.nanoTime())
                : DropReason.UNKNOWN_RANK;
    }

    private DropReason land(int fromNode, Frame frame, Payload payload) {
        if (!isKnown(fromNode, frame)) {
            return DropReason.UNKNOWN_RANK;
        }
        DropReason reason = payload == null ? receives.land(frame) : payload.land(receives, frame);
        if (reason == null) {
            counters.receivedBytes(frame.fragmentLength());
        }
        return reason;
    }

    private boolean isKnown(int fromNode, Frame frame) {
        int to = frame.toRank();
        return nodes.isLocal(to) && listeners.of(to) != null && isOnNode(frame.fromRank(), fromNode);
    }

    private boolean isOnNode(int rank, int node) {
        return nodes.contains(rank) && nodes.nodeOf(rank) == node;
    }
}
