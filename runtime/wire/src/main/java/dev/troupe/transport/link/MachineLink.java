package dev.troupe.transport.link;

import dev.troupe.transport.device.SendingRing;
import dev.troupe.transport.device.SendingRing.Piece;
import dev.troupe.transport.device.SendingRings;
import dev.troupe.transport.frame.FrameWriter;
import dev.troupe.wire.Ring;
import dev.troupe.wire.way.Outcome;
import dev.troupe.wire.way.StreamWay;
import java.util.Optional;

/**
 * The link to a process of this machine. Only headers of fragments pass through its stream. Payloads go through a ring to
 * another process, or from tensor to tensor in this one.
 */
final class MachineLink extends Link {
    /** The largest fragment. It is small in comparison with the ring, so that one side reads while the other writes. */
    private static final int RING_FRAGMENT_BYTES = 64 << 10;

    private final StreamWay stream;
    private final Payloads payloads;

    /** The places of payloads. */
    sealed interface Payloads {
        /** A ring of the host's memory, and rings of devices. */
        record Rings(Ring ring, SendingRings<SendQueue.Outgoing> devices) implements Payloads {
        }

        /** The tensors of this process. */
        record Own(HandOvers handOvers) implements Payloads {
        }
    }

    MachineLink(int node, int since, StreamWay stream, Payloads payloads, Incoming incoming, Shared shared) {
        super(node, since, stream, incoming, new FrameWriter(false), shared);
        this.stream = stream;
        this.payloads = payloads;
    }

    @Override
    Outcome sendFragment(SendQueue.Outgoing message, long nowNanos) {
        return switch (payloads) {
            case Payloads.Own own -> sendWithin(own.handOvers(), message, nowNanos);
            case Payloads.Rings rings -> {
                SendingRing<SendQueue.Outgoing> device = deviceOf(rings, message);
                Outcome begun = device == null ? null : beginPiece(device, message);
                yield begun == null ? sendByRing(rings.ring(), message, nowNanos) : begun;
            }
        };
    }

    private static SendingRing<SendQueue.Outgoing> deviceOf(Payloads.Rings rings, SendQueue.Outgoing message) {
        return rings.devices().of(message.id.edge().fromRank(), message.id.edge().toRank(), message.engine)
                .orElse(null);
    }

    private Outcome sendWithin(HandOvers handOvers, SendQueue.Outgoing message, long nowNanos) {
        Optional<HandOvers.Piece> next;
        try {
            next = handOvers.next(message);
        } catch (RuntimeException unreadable) {
            message.failure = unreadable;
            return Outcome.ACCEPTED;
        }
        if (next.isEmpty()) {
            return super.sendFragment(message, nowNanos);
        }
        HandOvers.Piece piece = next.get();
        Outcome claimed = claim(FrameWriter.FRAGMENT_HEADER_BYTES, 0, nowNanos);
        if (claimed == Outcome.ACCEPTED) {
            commit(message, message.position, piece.length(), piece.number());
            handOvers.left(piece);
            left(message, piece.length());
        }
        return claimed;
    }

    private Outcome sendByRing(Ring ring, SendQueue.Outgoing message, long nowNanos) {
        int length = ring.room((int) Math.min(message.remaining(), RING_FRAGMENT_BYTES));
        if (length == 0) {
            return backPressured();
        }
        Outcome claimed = claim(FrameWriter.FRAGMENT_HEADER_BYTES, 0, nowNanos);
        if (claimed != Outcome.ACCEPTED) {
            return claimed;
        }
        try {
            message.read(ring.next(length));
        } catch (RuntimeException unreadable) {
            stream.abort();
            message.failure = unreadable;
            return Outcome.ACCEPTED;
        }
        commit(message, message.position, length, ring.advance(length));
        left(message, length);
        return Outcome.ACCEPTED;
    }

    private void commit(SendQueue.Outgoing message, long position, int length, long stamp) {
        writeHeader(message, position, length);
        stream.stamp(stamp);
        stream.commit();
    }

    /**
     * Begins to copy the next piece of a message to a device's ring; returns null if the piece must go through the host.
     */
    private Outcome beginPiece(SendingRing<SendQueue.Outgoing> device, SendQueue.Outgoing message) {
        int length = device.room(message.remaining());
        if (length == 0) {
            return backPressured();
        }
        try {
            if (!device.begin(message, message.engine, message.tensor, message.position, length)) {
                return null;
            }
        } catch (RuntimeException unreadable) {
            message.failure = unreadable;
            return Outcome.ACCEPTED;
        }
        message.position += length;
        message.piecesInFlight++;
        return Outcome.ACCEPTED;
    }

    @Override
    boolean isFullFor(SendQueue.Outgoing message) {
        if (!(payloads instanceof Payloads.Rings rings)) {
            return false;
        }
        SendingRing<SendQueue.Outgoing> device = deviceOf(rings, message);
        return device != null && device.room(message.remaining()) == 0;
    }

    /**
     * {@inheritDoc} Committed frames are already in the stream; this sends the frames of pieces that devices have copied.
     */
    @Override
    int flush(long nowNanos) {
        int sent = 0;
        if (payloads instanceof Payloads.Rings rings) {
            for (int device = 0; device < rings.devices().open().size(); device++) {
                sent += sendPieces(rings.devices().open().get(device), nowNanos);
            }
        }
        return sent;
    }

    /** Sends the frames of copied pieces; returns their number. */
    private int sendPieces(SendingRing<SendQueue.Outgoing> device, long nowNanos) {
        int sent = 0;
        for (Piece<SendQueue.Outgoing> piece; (piece = device.first()) != null; sent++) {
            SendQueue.Outgoing message = piece.message();
            try {
                if (!piece.copied().isReached()) {
                    break;
                }
            } catch (RuntimeException unreadable) {
                message.failure = unreadable;
                forget(message);
                continue;
            }
            if (claim(FrameWriter.FRAGMENT_HEADER_BYTES, 0, nowNanos) != Outcome.ACCEPTED) {
                break;
            }
            commit(message, piece.offset(), piece.length(), piece.stamp());
            device.left();
            message.piecesInFlight--;
            sentBytes(piece.length());
        }
        return sent;
    }

    /**
     * {@inheritDoc} Only pieces in devices' rings are copied in the background; a hand-over of an old epoch is never copied.
     */
    @Override
    void settle(int epoch) {
        if (payloads instanceof Payloads.Rings rings) {
            rings.devices().withdraw(message -> message.id.epoch() < epoch);
        }
        super.settle(epoch);
    }

    @Override
    void forget(SendQueue.Outgoing message) {
        if (payloads instanceof Payloads.Rings rings) {
            rings.devices().withdraw(other -> other == message);
        }
        message.piecesInFlight = 0;
    }

    @Override
    boolean awaitsEngine() {
        return super.awaitsEngine() || payloads instanceof Payloads.Rings rings && rings.devices().isBusy();
    }

    @Override
    void close() {
        super.close();
        closeRings();
    }

    @Override
    void release() {
        super.release();
        closeRings();
    }

    private void closeRings() {
        if (payloads instanceof Payloads.Rings rings) {
            rings.ring().close();
            rings.devices().close();
        }
    }
}
