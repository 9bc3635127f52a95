package dev.troupe.transport.aeron;

import dev.troupe.protocol.Edge;
import dev.troupe.transport.Counters;
import dev.troupe.transport.FrameHook;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.device.SendingRing;
import dev.troupe.transport.device.SendingRing.Piece;
import dev.troupe.transport.device.SendingRings;
import dev.troupe.wire.Ring;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.logbuffer.BufferClaim;
import java.util.Optional;
import org.agrona.MutableDirectBuffer;

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
    /** Rings of devices; null but for streams to other processes of this machine. */
    private final SendingRings<SendQueue.Outgoing> devices;
    private final BufferClaim claim = new BufferClaim();
    private final FrameWriter writer;

    /**
     * @param ring the ring for payloads; empty where payloads are in their frames, or are handed over
     * @param devices the rings for payloads that stay on a device; empty where the node is of another machine, or this
     *     one
     * @param handOvers the payloads of a process to itself; empty where the node is another
     */
    StreamLink(int node, boolean leavesMachine, ExclusivePublication publication, Optional<Ring> ring,
            Optional<SendingRings<SendQueue.Outgoing>> devices, Optional<HandOvers> handOvers, long timeoutNanos,
            Counters counters, FrameHook hook) {
        super(node, timeoutNanos, counters, hook);
        this.writer = new FrameWriter(leavesMachine);
        this.ring = ring.orElse(null);
        this.handOvers = handOvers.orElse(null);
        this.devices = devices.orElse(null);
        this.publication = publication;
        this.maxPayload = ring.isPresent()
                ? RING_FRAGMENT_BYTES
                : FrameWriter.maxPayload(publication.maxPayloadLength());
    }

    @Override
    Outcome sendFragment(SendQueue.Outgoing message, long nowNanos) {
        if (handOvers == null) {
            Outcome begun = devices == null ? null : beginPiece(message);
            return begun == null ? writeFragment(message, nowNanos) : begun;
        }
        Optional<HandOvers.Piece> piece;
        try {
            piece = handOvers.next(message);
        } catch (RuntimeException e) {
            return unreadable(e);
        }
        return piece.isPresent() ? handOver(message, piece.get(), nowNanos) : writeFragment(message, nowNanos);
    }

    /** Has the next piece of a message copied to the ring of its ranks; returns null where it goes by way of the host. */
    private Outcome beginPiece(SendQueue.Outgoing message) {
        SendingRing<SendQueue.Outgoing> device = devices
                .of(message.id.edge().fromRank(), message.id.edge().toRank(), message.engine).orElse(null);
        if (device == null) {
            return null;
        }
        int length = device.room(message.remaining());
        if (length == 0) {
            backPressured();
            return Outcome.FULL;
        }
        try {
            if (!device.begin(message, message.engine, message.tensor, message.position, length)) {
                return null;
            }
        } catch (RuntimeException e) {
            return unreadable(e);
        }
        message.position += length;
        message.piecesUnderWay++;
        return Outcome.SENT;
    }

    /** The frames of pieces that are copied leave; returns how many. */
    private int sendPieces(SendingRing<SendQueue.Outgoing> device, long nowNanos) {
        int sent = 0;
        for (Piece<SendQueue.Outgoing> piece; (piece = device.first()) != null; sent++) {
            SendQueue.Outgoing message = piece.message();
            try {
                if (!piece.copied().isReached()) {
                    break;
                }
            } catch (RuntimeException e) {
                message.failure = e;
                forget(message);
                continue;
            }
            if (!claim(FrameWriter.FRAGMENT_HEADER_BYTES, nowNanos)) {
                break;
            }
            writer.header(claim.buffer(), claim.offset(), message.id, message.number, message.tensor, piece.offset(),
                    piece.length());
            if (damages(message)) {
                writer.damage(claim.buffer(), claim.offset());
            }
            claim.reservedValue(piece.stamp());
            claim.commit();
            device.left();
            message.piecesUnderWay--;
            sentBytes(piece.length());
        }
        return sent;
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
        int sent = 0; // a committed claim is in the stream, and a piece is when it is copied
        for (int device = 0; devices != null && device < devices.open().size(); device++) {
            sent += sendPieces(devices.open().get(device), nowNanos);
        }
        return sent;
    }

    /**
     * {@inheritDoc} Each fragment was copied when it was sent, is copied when its header is read, which of an old epoch is
     * not, or is in a ring of a device when this returns.
     */
    @Override
    void withdraw(int epoch) {
        if (devices != null) {
            devices.withdraw(message -> message.id.epoch() < epoch);
        }
    }

    @Override
    void forget(SendQueue.Outgoing message) {
        if (devices != null) {
            devices.withdraw(other -> other == message);
        }
        message.piecesUnderWay = 0;
    }

    @Override
    boolean awaitsEngine() {
        return devices != null && devices.isBusy();
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
        if (devices != null) {
            devices.close();
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
