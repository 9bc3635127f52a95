package dev.troupe.transport.aeron;

import java.util.Optional;
import java.util.concurrent.TimeUnit;

import org.agrona.MutableDirectBuffer;

import dev.troupe.protocol.Edge;
import dev.troupe.transport.InjectedDamage;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportSettings;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.logbuffer.BufferClaim;

/**
 * The stream from this node to one node. Belongs to the transport thread.
 */
final class Link {
    /**
     * The largest fragment, as over IPC without a ring: small beside the ring, so that one side reads while the other
     * writes.
     */
    private static final int RING_FRAGMENT_BYTES = 64 << 10;

    /** The result of an attempt to put a frame into the stream. */
    enum Outcome {
        /** The frame is in the stream. */
        SENT,
        /** The window is full or no reader is connected. Try again at a later turn. */
        LATER,
        /** The tensor could not be read; see {@link #readFailure}. Do not try again. */
        UNREADABLE
    }

    private final int node;
    private final ExclusivePublication publication;
    private final long timeoutNanos;
    private final Counters counters;
    private final int maxPayload;
    private final Ring ring;
    private final BufferClaim claim = new BufferClaim();
    private final FrameWriter writer;
    private RuntimeException readFailure;
    private boolean outOfReach;
    private long outOfReachSinceNanos;
    private boolean told;
    private String closed;

    /**
     * @param ring
     *            the ring for payloads; empty where payloads are in their frames
     */
    Link(int node, boolean leavesMachine, ExclusivePublication publication, Optional<Ring> ring, long timeoutNanos,
            Counters counters) {
        this.node = node;
        this.writer = new FrameWriter(leavesMachine);
        this.ring = ring.orElse(null);
        this.publication = publication;
        this.timeoutNanos = timeoutNanos;
        this.counters = counters;
        this.maxPayload = ring.isPresent()
                ? RING_FRAGMENT_BYTES
                : FrameWriter.maxPayload(publication.maxPayloadLength());
    }

    int node() {
        return node;
    }

    /** Returns the engine's exception in the last attempt that was {@link Outcome#UNREADABLE}. */
    RuntimeException readFailure() {
        return readFailure;
    }

    /** Puts the next fragment of a message into the stream and advances its position. */
    Outcome send(SendQueue.Outgoing message, long nowNanos) {
        if (message.damage == InjectedDamage.LOST) {
            message.position = message.byteCount;
            return Outcome.SENT;
        }
        int length = (int) Math.min(message.remaining(), maxPayload);
        if (ring != null) {
            length = ring.room(length);
            if (length == 0) {
                counters.wasBackPressured();
                return Outcome.LATER;
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
                message.engine.copyToHost(message.tensor, message.position, ring.next(length));
                writer.header(buffer, claim.offset(), message.id, message.number, message.tensor, message.position,
                        length);
                claim.reservedValue(ring.advance(length));
            }
            if (message.damage == InjectedDamage.DAMAGED) {
                writer.damage(buffer, claim.offset());
            }
        } catch (RuntimeException e) {
            // Receivers skip an aborted claim as padding.
            claim.abort();
            readFailure = e;
            return Outcome.UNREADABLE;
        }
        claim.commit();
        message.position += length;
        counters.sentBytes(length);
        return Outcome.SENT;
    }

    /** Puts credits into the stream. */
    Outcome sendCredit(int epoch, Edge edge, int count, long nowNanos) {
        if (!claim(FrameWriter.CREDIT_BYTES, nowNanos)) {
            return Outcome.LATER;
        }
        writer.credit(claim.buffer(), claim.offset(), epoch, edge, count);
        claim.commit();
        return Outcome.SENT;
    }

    private boolean claim(int length, long nowNanos) {
        if (closed != null) {
            return false;
        }
        long result = publication.tryClaim(length, claim);
        if (result > 0) {
            outOfReach = false;
            told = false;
            return true;
        }
        if (result == Publication.BACK_PRESSURED) {
            counters.wasBackPressured();
        } else if (result == Publication.NOT_CONNECTED) {
            if (!outOfReach) {
                outOfReach = true;
                outOfReachSinceNanos = nowNanos;
            }
        } else if (result == Publication.MAX_POSITION_EXCEEDED) {
            closed = "the stream to node " + node + " has carried all the bytes that Aeron can number at terms of "
                    + publication.termBufferLength() + " bytes; make transport.term-length larger and resume the run";
        } else if (result == Publication.CLOSED) {
            closed = "the stream to node " + node + " is closed: the Aeron client has lost its media driver, or was"
                    + " stopped for more than " + TransportSettings.LIVENESS_TIMEOUT_SECONDS
                    + " seconds; resume the run";
        }
        // The last of the codes, ADMIN_ACTION, is the change to the next term: the next attempt succeeds.
        return false;
    }

    /** Returns a fault of which the ranks have not been told yet, or null; called once per round. */
    TransportFault newFault(long nowNanos) {
        if (told) {
            return null;
        }
        if (closed != null) {
            told = true;
            return new TransportFault.LinkFault(node, closed);
        }
        if (outOfReach && nowNanos - outOfReachSinceNanos >= timeoutNanos) {
            told = true;
            return new TransportFault.LinkFault(node, "node " + node + " was expected to be connected, but could not be"
                    + " reached for " + TimeUnit.NANOSECONDS.toSeconds(nowNanos - outOfReachSinceNanos)
                    + " seconds; see that it runs and that its address is right");
        }
        return null;
    }

    /**
     * Discards all frames of the stream at once, read or not: the reader may have died, and the media driver would keep
     * the frames for it for as long as a client may pause.
     */
    void close() {
        publication.revoke();
        release();
    }

    /** Releases the ring, which the stream does not own. */
    void release() {
        if (ring != null) {
            ring.close();
        }
    }

    /** Whether a receiver is connected. */
    boolean isConnected() {
        return publication.isConnected();
    }
}
