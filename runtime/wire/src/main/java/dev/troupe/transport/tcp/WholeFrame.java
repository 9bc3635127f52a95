package dev.troupe.transport.tcp;

import dev.troupe.wire.way.FrameReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The frame of a connection that has been read and not been taken yet: the header, which is {@linkplain FrameStream#seal
 * sealed}, and after it the payload, in memory of this object. While it is here no other is read.
 *
 * <p>Thread rule: one thread.
 */
public final class WholeFrame implements FrameReader {
    /** Receives the numbers of frames that were lost with a connection, or damaged on the way. */
    @FunctionalInterface
    public interface Losses {
        /** As {@link FrameReader#onLost}; a damaged frame is one from the other side. */
        void onLost(long from, long to);
    }

    /** Finds a better place for a payload. */
    @FunctionalInterface
    public interface Place {
        /**
         * Returns the memory of a payload, of its size; {@link MemorySegment#NULL} for that after the header.
         *
         * @param frame its header, in {@link WholeFrame#buffer}
         */
        MemorySegment of(WholeFrame frame);
    }

    private final int headerBytes;
    private final Losses losses;
    private final Place place;
    private final ByteBuffer bytes;
    private final UnsafeBuffer buffer;
    private final MemorySegment memory;
    private final CRC32C crc = new CRC32C();
    private int payloadBytes;
    private boolean isPlaced;
    private boolean isHere;

    /**
     * Makes room for a frame.
     *
     * @param headerBytes of every frame
     * @param mostPayload the most bytes of a payload
     */
    public WholeFrame(int headerBytes, int mostPayload, Losses losses, Place place) {
        this.headerBytes = headerBytes;
        this.losses = losses;
        this.place = place;
        this.bytes = ByteBuffer.allocateDirect(headerBytes + mostPayload);
        this.buffer = new UnsafeBuffer(bytes);
        this.memory = MemorySegment.ofBuffer(bytes);
    }

    /**
     * Reads of a connection until a frame is here; returns whether bytes were read.
     *
     * @throws IOException if the connection is broken, or carries something else
     */
    public boolean readFrom(FrameStream stream) throws IOException {
        return stream.read(this, Integer.MAX_VALUE) > 0;
    }

    @Override
    public boolean isFull() {
        return isHere;
    }

    public boolean isHere() {
        return isHere;
    }

    /** The header, and after it the payload unless that {@linkplain #isPlaced has another place}. */
    public DirectBuffer buffer() {
        return buffer;
    }

    /** The memory of {@link #buffer}. */
    public MemorySegment memory() {
        return memory;
    }

    public int payloadBytes() {
        return payloadBytes;
    }

    /** Bytes of header and payload. */
    public int length() {
        return headerBytes + payloadBytes;
    }

    /** Whether the payload is in the memory of the {@link Place}. */
    public boolean isPlaced() {
        return isPlaced;
    }

    /** The frame has been taken, so that the next one may be read. */
    public void taken() {
        isHere = false;
    }

    @Override
    public void onLost(long from, long to) {
        losses.onLost(from, to);
    }

    @Override
    public MemorySegment onHeader(DirectBuffer from, int offset, int length, int itsPayload) throws IOException {
        if (length != headerBytes || length + itsPayload > buffer.capacity()) {
            throw new ProtocolException("a frame of " + length + " and " + itsPayload + " bytes");
        }
        buffer.putBytes(0, from, offset, length);
        int end = length - FrameStream.SEAL_BYTES;
        crc.reset();
        crc.update(bytes.duplicate().limit(end));
        if (buffer.getInt(end, ByteOrder.LITTLE_ENDIAN) != (int) crc.getValue()) {
            throw new ProtocolException("a header that does not fit its checksum");
        }
        payloadBytes = itsPayload;
        isPlaced = false;
        isHere = itsPayload == 0;
        if (isHere) {
            return MemorySegment.NULL;
        }
        MemorySegment better = place.of(this);
        isPlaced = better.byteSize() > 0;
        return isPlaced ? better : memory.asSlice(length, itsPayload);
    }

    @Override
    public boolean isWanted() {
        return true;
    }

    @Override
    public void onPayload(boolean isWhole) {
        isHere = isWhole;
        if (!isWhole) {
            losses.onLost(1, 0);
        }
    }
}
