package dev.troupe.transport.aeron;

import dev.troupe.transport.Counters;
import java.util.Optional;

import org.agrona.MutableDirectBuffer;

import dev.troupe.protocol.Edge;
import dev.troupe.transport.FrameHook;
import dev.troupe.transport.TransportSettings;
import dev.troupe.wire.Ring;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.logbuffer.BufferClaim;

/** An Aeron stream to one node, with a ring for its payloads where the node is another process of this machine. */
final class StreamLink extends Link {
    /**
     * The largest fragment, as over IPC without a ring: small beside the ring, so that one side reads while the other
     * writes.
     */
    private static final int RING_FRAGMENT_BYTES = 64 << 10;

    private final ExclusivePublication publication;
    private final int maxPayload;
    private final Ring ring;
    /** Null but for the stream of a process to itself. */
    private final HandOvers handOvers;
    private final BufferClaim claim = new BufferClaim();
    private final FrameWriter writer;

    /**
     * @param ring
     *            the ring for payloads; empty where payloads are in their frames, or are handed over
     * @param handOvers
     *            the payloads of a process to itself; empty where the node is another
     */
    StreamLink(int node, boolean leavesMachine, ExclusivePublication publication, Optional<Ring> ring,
            Optional<HandOvers> handOvers, long timeoutNanos, Counters counters, FrameHook hook) {
        super(node, timeoutNanos, counters, hook);
        this.writer = new FrameWriter(leavesMachine);
        this.ring = ring.orElse(null);
        this.handOvers = handOvers.orElse(null);
        this.publication = publication;
        this.maxPayload = ring.isPresent()
                ? RING_FRAGMENT_BYTES
                : FrameWriter.maxPayload(publication.maxPayloadLength());
    }

    @Override
    Outcome sendFragment(SendQueue.Outgoing message, long nowNanos) {
        if (handOvers == null) {
            return writeFragment(message, nowNanos);
        }
        Optional<HandOvers.Piece> piece;
        try {
            piece = handOvers.next(message);
        } catch (RuntimeException e) {
            return unreadable(e);
        }
        return piece.isPresent() ? handOver(message, piece.get(), nowNanos) : writeFragment(message, nowNanos);
    }

    private Outcome handOver(SendQueue.Outgoing message, HandOvers.Piece piece, long nowNanos) {
        if (!claim(FrameWriter.FRAGMENT_HEADER_BYTES, nowNanos)) {
            return Outcome.LATER;
        }
        writer.header(claim.buffer(), claim.offset(), message.id, message.number, message.tensor, message.position,
                piece.length());
        if (damages(message)) {
            writer.damage(claim.buffer(), claim.offset());
        }
        claim.reservedValue(piece.number());
        claim.commit();
        handOvers.left(piece);
        return left(message, piece.length());
    }

    private Outcome writeFragment(SendQueue.Outgoing message, long nowNanos) {
        int length = (int) Math.min(message.remaining(), maxPayload);
        if (ring != null) {
            length = ring.room(length);
            if (length == 0) {
                return backPressured();
            }
        }
        if (!claim(FrameWriter.FRAGMENT_HEADER_BYTES + (ring == null ? length : 0), nowNanos)) {
            return Outcome.LATER;
        }
        MutableDirectBuffer buffer = claim.buffer();
        try {
            if (ring == null) {
                writer.fragment(buffer, claim.offset(), message.id, message.number, message.engine, message.tensor,
                        message.position,
                        length);
            } else {
                message.read(ring.next(length));
                writer.header(buffer, claim.offset(), message.id, message.number, message.tensor, message.position,
                        length);
                claim.reservedValue(ring.advance(length));
            }
            if (damages(message)) {
                writer.damage(buffer, claim.offset());
            }
        } catch (RuntimeException e) {
            // Receivers skip an aborted claim as padding.
            claim.abort();
            return unreadable(e);
        }
        claim.commit();
        return left(message, length);
    }

    @Override
    Outcome putCredit(int epoch, Edge edge, int count, long nowNanos) {
        if (!claim(FrameWriter.CREDIT_BYTES, nowNanos)) {
            return Outcome.LATER;
        }
        writer.credit(claim.buffer(), claim.offset(), epoch, edge, count);
        claim.commit();
        return Outcome.SENT;
    }

    private boolean claim(int length, long nowNanos) {
        long result = publication.tryClaim(length, claim);
        if (result > 0) {
            connected();
            return true;
        }
        if (result == Publication.BACK_PRESSURED) {
            backPressured();
        } else if (result == Publication.NOT_CONNECTED) {
            notConnected(nowNanos);
        } else if (result == Publication.MAX_POSITION_EXCEEDED) {
            closedFor("the stream to node " + node() + " has carried all the bytes that Aeron can number at terms of "
                    + publication.termBufferLength() + " bytes; make transport.term-length larger and resume the run");
        } else if (result == Publication.CLOSED) {
            closedFor("the stream to node " + node() + " is closed: the Aeron client has lost its media driver, or was"
                    + " stopped for more than " + TransportSettings.LIVENESS_TIMEOUT_SECONDS
                    + " seconds; resume the run");
        }
        // The last of the codes, ADMIN_ACTION, is the change to the next term: the next attempt succeeds.
        return false;
    }

    @Override
    int flush(long nowNanos) {
        return 0; // a committed claim is in the stream
    }

    @Override
    void withdraw(int epoch) {
        // Each fragment was copied when it was sent, or is copied when its header is read, which of an old epoch is not.
    }

    /** {@inheritDoc} The media driver would keep the frames for a dead reader for as long as a client may pause. */
    @Override
    void close() {
        publication.revoke();
        release();
    }

    /** Releases the ring, which the stream does not own. */
    @Override
    void release() {
        if (ring != null) {
            ring.close();
        }
    }

    /** Ends the way of a payload, as {@link HandOvers#read} does, where a frame is one that this link has written. */
    HandOvers.Piece handedOver(int sessionId, long number) {
        return handOvers == null || sessionId != publication.sessionId() ? null : handOvers.read(number);
    }

    /** Whether a receiver is connected. */
    boolean isConnected() {
        return publication.isConnected();
    }
}
