package dev.troupe.transport.link;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Tensor;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.frame.Frame;
import dev.troupe.transport.frame.FrameWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Optional;
import org.agrona.DirectBuffer;

/**
 * The payloads of a process to itself that bypass its stream. Only their headers pass through the stream. When a header is
 * read, the payload is copied from tensor to tensor: in the host's memory, on one device, or through the host between
 * devices. Until then the message is in flight, and its tensor belongs to the transport. Belongs to the transport thread.
 */
final class HandOvers {
    /** The largest piece of a tensor in the host's memory, so that edges alternate. */
    private static final int HOST_BYTES = 256 << 10;
    /** The largest piece of other tensors, which a device copies in less than a millisecond. */
    private static final int DEVICE_BYTES = 1 << 30;
    private static final int STAGING_BYTES = 1 << 20;

    private final int session;
    private final ArrayDeque<Piece> inFlight = new ArrayDeque<>();
    private long lastNumber;
    /** Null until a payload passes through the host. */
    private MemorySegment staging;

    /** A piece of a message. */
    final class Piece implements Arrivals.Payload {
        private final long number;
        private final SendQueue.Outgoing message;
        private final Optional<MemorySegment> memory;
        private final long offset;
        private final int length;

        private Piece(SendQueue.Outgoing message, Optional<MemorySegment> memory) {
            number = lastNumber + 1;
            this.message = message;
            this.memory = memory;
            offset = message.position;
            length = (int) Math.min(message.remaining(), memory.isPresent() ? HOST_BYTES : DEVICE_BYTES);
        }

        /** Returns the piece's number, counted from 1 in the order of sending. */
        long number() {
            return number;
        }

        int length() {
            return length;
        }

        @Override
        public DropReason read(Frame frame, DirectBuffer buffer, int at, int bytes) {
            return frame.readHeader(buffer, at, bytes, length);
        }

        @Override
        public DropReason land(PostedReceives receives, Frame frame) {
            return receives.land(frame, this);
        }

        /**
         * Copies the piece to its place in a buffer, and waits for that copy alone.
         *
         * @throws RuntimeException the engine's exception if it cannot read the tensor or write the buffer
         */
        void copyTo(Engine engine, Tensor buffer) {
            if (memory.isPresent()) {
                engine.fromHost(memory.get().asSlice(offset, length), buffer, offset, Fence.REACHED).await();
            } else {
                Optional<Fence> taken = engine.takeFrom(message.tensor, buffer, offset, length);
                if (taken.isPresent()) {
                    taken.get().await();
                } else {
                    copyByHost(engine, buffer);
                }
            }
        }

        private void copyByHost(Engine engine, Tensor buffer) {
            if (staging == null) {
                staging = Arena.ofAuto().allocate(STAGING_BYTES, FrameWriter.PAYLOAD_UNIT);
            }
            for (long at = offset; at < offset + length; at += STAGING_BYTES) {
                MemorySegment part = staging.asSlice(0, Math.min(STAGING_BYTES, offset + length - at));
                message.engine.toHost(message.tensor, at, part, Fence.REACHED).await();
                engine.fromHost(part, buffer, at, Fence.REACHED).await();
            }
        }
    }

    /**
     * @param session the session of this process's stream to itself
     */
    HandOvers(int session) {
        this.session = session;
    }

    /**
     * Returns the next piece of a message; empty if the message must use the stream, since its tensor is neither in the
     * host's memory nor on a device.
     *
     * @throws RuntimeException the engine's exception if it cannot read the tensor
     */
    Optional<Piece> next(SendQueue.Outgoing message) {
        Optional<MemorySegment> memory = message.engine.hostMemory(message.tensor);
        return memory.isPresent() || message.engine.computesLate()
                ? Optional.of(new Piece(message, memory))
                : Optional.empty();
    }

    /** Records that the header of {@link #next} is in the stream. */
    void left(Piece piece) {
        lastNumber = piece.number;
        inFlight.add(piece);
        piece.message.piecesInFlight++;
    }

    /** Removes the piece of a received header; returns null if no header of this number and session is in the stream. */
    Piece read(int itsSession, long number) {
        Piece first = inFlight.peekFirst();
        if (itsSession != session || first == null || first.number != number) {
            return null;
        }
        inFlight.pollFirst();
        first.message.piecesInFlight--;
        return first;
    }
}
