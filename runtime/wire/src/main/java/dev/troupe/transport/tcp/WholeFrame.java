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
 * The last frame read from a connection: its {@linkplain FrameStream#seal sealed} header and its payload, in memory of this
 * object. No other frame is read until it is taken.
 *
 * <p>Thread rule: one thread.
 */
public final class WholeFrame implements FrameReader {
    /** The receiver of the numbers of lost or damaged frames. */
    @FunctionalInterface
    public interface Losses {
        /** Reports lost frames as {@link FrameReader#onLost}; a damaged frame counts as lost from the other side. */
        void onLost(long from, long to);
    }

    /** The choice of another place for a payload. */
    @FunctionalInterface
    public interface Place {
        /**
         * Returns memory of the payload's size, or {@link MemorySegment#NULL} to place the payload after the header.
         *
         * @param frame has the header, in {@link WholeFrame#buffer}
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
     * Creates the memory of a frame.
     *
     * @param mostPayload the largest payload in bytes
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
     * Reads from a connection until a frame is complete; returns whether bytes were read.
     *
     * @throws IOException if the connection is broken, or carries bytes that are no frame
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

    /** Returns the header, followed by the payload unless it {@linkplain #isPlaced has another place}. */
    public DirectBuffer buffer() {
        return buffer;
    }

    public MemorySegment memory() {
        return memory;
    }

    /** Returns the bytes of header and payload. */
    public int length() {
        return headerBytes + payloadBytes;
    }

    /** Returns whether the payload is in the memory chosen by {@link Place}. */
    public boolean isPlaced() {
        return isPlaced;
    }

    /** Marks the frame as taken, so that the next one may be read. */
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
