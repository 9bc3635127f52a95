package dev.troupe.transport.link;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Tensor;
import dev.troupe.transport.DropReason;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Optional;
import org.agrona.DirectBuffer;

/**
 * Payloads of a process to itself that do not go through its stream. Their header does, and when it is read, the payload is
 * copied from the one tensor to the other: in the host's memory if it lies there, on the device if both are on one, and by
 * way of the host between devices. Until then its message is in flight, and its tensor stays the transport's.
 * Belongs to the transport thread.
 */
final class HandOvers {
    /** The most of a tensor in the host's memory, so that edges alternate. */
    private static final int HOST_BYTES = 256 << 10;
    /** The most of any other: a device copies that much in less than a millisecond. */
    private static final int DEVICE_BYTES = 1 << 30;
    private static final int STAGING_BYTES = 1 << 20;

    private final int session;
    private final ArrayDeque<Piece> underWay = new ArrayDeque<>();
    private long lastNumber;
    /** Null until a payload goes by way of the host. */
    private MemorySegment staging;

    /** A part of a message. */
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

        /** Returns its number, from 1 on in the order of leaving. */
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
         * Copies it to its place in a buffer, and waits for that copy alone.
         *
         * @throws RuntimeException the exception of the engine that cannot read its tensor, or cannot write the buffer
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
     * Returns the part of a message that leaves next; empty if it has to go through the stream: its tensor is neither in
     * the host's memory nor on a device.
     *
     * @throws RuntimeException the engine's exception if it cannot read the tensor
     */
    Optional<Piece> next(SendQueue.Outgoing message) {
        Optional<MemorySegment> memory = message.engine.hostMemory(message.tensor);
        return memory.isPresent() || message.engine.computesLate()
                ? Optional.of(new Piece(message, memory))
                : Optional.empty();
    }

    /** The header of {@link #next} is in the stream. */
    void left(Piece piece) {
        lastNumber = piece.number;
        underWay.add(piece);
        piece.message.piecesUnderWay++;
    }

    /**
     * Ends the way of the payload of a header that is read; returns null if no header of this number and session is in the
     * stream.
     */
    Piece read(int itsSession, long number) {
        Piece first = underWay.peekFirst();
        if (itsSession != session || first == null || first.number != number) {
            return null;
        }
        underWay.pollFirst();
        first.message.piecesUnderWay--;
        return first;
    }
}
