package dev.troupe.transport.tcp;

import dev.troupe.wire.Rest;
import dev.troupe.wire.way.FrameReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.util.zip.CRC32C;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The frames on one connection, in both directions. A frame is the lengths of its header and payload (4 bytes each,
 * little-endian), the header, and the payload with its CRC32C and its state. A large payload is written from one tensor's
 * memory and read into the other's, so only the kernel copies it. Its checksum follows it, so that both sides compute it
 * while the bytes are in a near cache. The first frame in each direction has the counts of frames, since a broken connection
 * may have lost some. {@linkplain Nudges Nudges} have lengths only.
 *
 * <p>Calls never block. Thread rule: one thread.
 */
public final class FrameStream implements AutoCloseable {
    /** The largest payload: 0.1 ms at 3 GB/s and 2 ms at 1 Gbit/s, for which other frames wait. It fits a level 2 cache. */
    public static final int MOST_PAYLOAD = 256 << 10;
    /** The largest payload that is copied next to its header, so that one system call writes many frames. */
    public static final int MOST_COPIED = 8 << 10;
    /** The bytes of a {@linkplain #seal sealed} header's checksum. */
    public static final int SEAL_BYTES = Integer.BYTES;
    private static final int MOST_HEADER = 256;
    private static final int PREFIX_BYTES = 2 * Integer.BYTES;
    private static final int TRAILER_BYTES = 2 * Integer.BYTES;
    private static final int COUNTS = -1;
    private static final int NUDGE = -2;
    private static final int COUNTS_BYTES = 2 * Long.BYTES;
    private static final int WHOLE = 1;
    private static final int WITHDRAWN = 2;
    private static final int OUT_BYTES = 64 << 10;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(MOST_PAYLOAD).asReadOnlyBuffer();

    private final Wire wire;
    private final Rest rest;
    private final SelectionKey key;
    private final Nudges nudges = new Nudges();
    private boolean awaitsRoom;
    private boolean awaitsData = true;
    private final ByteBuffer out = direct(OUT_BYTES).limit(0);
    private final UnsafeBuffer outBytes = new UnsafeBuffer(out.duplicate().clear());
    private final MemorySegment outMemory = MemorySegment.ofBuffer(out.duplicate().clear());
    private final ByteBuffer[] parts = new ByteBuffer[2];
    private final CRC32C outCrc = new CRC32C();
    private ByteBuffer payload = NOTHING;
    private boolean damages;
    private int state = WHOLE;
    private int frameStart;

    private final Arrived arrived;
    private final ByteBuffer past = direct(MOST_PAYLOAD);
    private final CRC32C inCrc = new CRC32C();
    private final long writtenBefore;
    private long written;
    private long read;
    private boolean isCounted;
    private ByteBuffer target = NOTHING;
    private boolean isRead;
    private boolean awaitsTrailer;

    /**
     * Creates the stream of an established connection.
     *
     * @param written the frames written to earlier connections of the line
     * @param read the frames read from earlier connections of the line
     */
    public FrameStream(Connections.Ready ready, Rest rest, long written, long read) throws IOException {
        this.wire = ready.wire();
        this.arrived = new Arrived(wire);
        this.rest = rest;
        this.key = rest.watch(wire.socket());
        int at = begin(COUNTS_BYTES, COUNTS);
        out.limit(at + COUNTS_BYTES);
        out.putLong(at, written).putLong(at + Long.BYTES, read);
        this.writtenBefore = written;
        this.written = written;
        this.read = read;
    }

    /** Returns the frames written to this connection and earlier ones. */
    public long written() {
        return written;
    }

    /** Returns the frames read from this connection and earlier ones. */
    public long read() {
        return read;
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns whether a frame can begin now. */
    public boolean hasRoom() {
        return !payload.hasRemaining()
                && OUT_BYTES - out.remaining() >= PREFIX_BYTES + MOST_HEADER + MOST_COPIED + 2 * TRAILER_BYTES;
    }

    /**
     * Begins a frame; {@link #hasRoom} must be true, and {@link #commit} or {@link #abort} is next.
     *
     * @return the offset of its header in {@link #buffer}; a payload of at most {@link #MOST_COPIED} bytes follows the
     *     header
     */
    public int begin(int headerBytes, int payloadBytes) {
        if (out.position() > 0) {
            out.compact().flip();
        }
        frameStart = out.limit();
        int at = frameStart + PREFIX_BYTES;
        out.limit(OUT_BYTES);
        out.putInt(frameStart, headerBytes).putInt(frameStart + Integer.BYTES, payloadBytes);
        out.limit(frameStart);
        return at;
    }

    public MutableDirectBuffer buffer() {
        return outBytes;
    }

    /** Writes a checksum into the last {@link #SEAL_BYTES} of the current frame's header. */
    public void seal(int headerBytes) {
        int at = frameStart + PREFIX_BYTES;
        int end = at + headerBytes - SEAL_BYTES;
        outCrc.reset();
        outCrc.update(out.duplicate().limit(end).position(at));
        outBytes.putInt(end, (int) outCrc.getValue(), ByteOrder.LITTLE_ENDIAN);
    }

    /** Takes back the current frame. */
    public void abort() {
        out.limit(frameStart);
    }

    /**
     * Ends a frame; its payload, if any, follows its header in {@link #buffer}.
     *
     * @param isDamaged whether to write a wrong checksum
     */
    public void commit(int headerBytes, int payloadBytes, boolean isDamaged) {
        int start = frameStart + PREFIX_BYTES + headerBytes;
        out.limit(start + payloadBytes);
        written++;
        if (payloadBytes > 0) {
            outCrc.reset();
            outCrc.update(out.duplicate().position(start));
            trailer(isDamaged, WHOLE);
        }
    }

    /** Ends a frame with a copy of a payload of at most {@link #MOST_COPIED} bytes. */
    public void commitCopy(int headerBytes, MemorySegment from, long at, int payloadBytes, boolean isDamaged) {
        MemorySegment.copy(from, at, outMemory, frameStart + PREFIX_BYTES + headerBytes, payloadBytes);
        commit(headerBytes, payloadBytes, isDamaged);
    }

    /**
     * Ends a frame with a payload in memory, which must not change until {@link #push} has returned true, or {@link
     * #withdraw}.
     */
    public void commit(int headerBytes, MemorySegment itsPayload, boolean isDamaged) {
        out.limit(frameStart + PREFIX_BYTES + headerBytes);
        outCrc.reset();
        payload = itsPayload.asByteBuffer();
        damages = isDamaged;
        state = WHOLE;
    }

    private void trailer(boolean isDamaged, int itsState) {
        int at = out.limit();
        int checksum = (int) outCrc.getValue() ^ (isDamaged ? 1 : 0);
        out.limit(at + TRAILER_BYTES);
        out.putInt(at, checksum).putInt(at + Integer.BYTES, itsState);
    }

    /** Writes the bytes that the kernel accepts; returns whether no payload in memory is left to write. */
    public boolean push() throws IOException {
        if (!payload.hasRemaining()) {
            return true;
        }
        int before = payload.position();
        parts[0] = out;
        parts[1] = payload;
        wire.write(parts);
        if (payload.position() > before) {
            outCrc.update(payload.duplicate().position(before).limit(payload.position()));
        }
        if (payload.hasRemaining()) {
            watchRoom(true);
            return false;
        }
        payload = NOTHING;
        out.clear().limit(0);
        trailer(damages, state);
        written++;
        return true;
    }

    /** Writes the bytes that the kernel accepts, and a nudge if it is due; returns whether all bytes are written. */
    public boolean flush() throws IOException {
        boolean isDone = push();
        long now = System.nanoTime();
        if (isDone && !out.hasRemaining() && nudges.isDue(now)) {
            out.limit(begin(0, NUDGE));
        }
        if (isDone && out.hasRemaining()) {
            parts[0] = out;
            parts[1] = NOTHING;
            wire.write(parts);
        }
        isDone &= wire.flush() & !out.hasRemaining();
        watchRoom(!isDone);
        if (isDone) {
            rest.atMost(nudges.nanosUntilDue(written, now));
        } else {
            nudges.startAgain();
        }
        return isDone;
    }

    /** Sets whether the selector waits for space in the socket. */
    private void watchRoom(boolean isAwaited) {
        if (isAwaited != awaitsRoom) {
            awaitsRoom = isAwaited;
            watch();
        }
    }

    /** Sets whether the selector waits for bytes from the other side; it does at first. */
    public void watchData(boolean isAwaited) {
        if (isAwaited != awaitsData) {
            awaitsData = isAwaited;
            watch();
        }
    }

    private void watch() {
        key.interestOps((awaitsData ? SelectionKey.OP_READ : 0) | (awaitsRoom ? SelectionKey.OP_WRITE : 0));
    }

    /** Releases the memory of the payload in progress: its rest is sent as zeros, and the receiver drops it. */
    public void withdraw() {
        if (payload.hasRemaining()) {
            payload = ZEROS.duplicate().limit(payload.remaining());
            state = WITHDRAWN;
        }
    }

    /**
     * Reads arrived bytes, up to about {@code most}; returns their number.
     *
     * @throws IOException if the connection is broken, or carries bytes that are no frame
     */
    public int read(FrameReader reader, int most) throws IOException {
        int taken = 0;
        arrived.look();
        while (taken < most && !reader.isFull()) {
            int bytes = target.hasRemaining()
                    ? readPayload(reader)
                    : awaitsTrailer
                            ? readTrailer(reader)
                            : readHeader(reader);
            if (bytes == 0) {
                break;
            }
            taken += bytes;
        }
        return taken;
    }

    private int readPayload(FrameReader reader) throws IOException {
        if (isRead && !reader.isWanted()) {
            isRead = false;
            target = past.duplicate().limit(target.remaining());
        }
        int start = target.position();
        int length = arrived.readInto(target);
        if (isRead && length > 0) {
            inCrc.update(target.duplicate().position(start).limit(start + length));
        }
        return length;
    }

    private int readTrailer(FrameReader reader) throws IOException {
        if (!arrived.fill(TRAILER_BYTES)) {
            return 0;
        }
        int checksum = arrived.takeInt();
        int itsState = arrived.takeInt();
        if (itsState != WHOLE && itsState != WITHDRAWN) {
            throw new ProtocolException("a frame of state " + itsState);
        }
        awaitsTrailer = false;
        read++;
        if (isRead && itsState == WHOLE && reader.isWanted()) {
            reader.onPayload(checksum == (int) inCrc.getValue());
        }
        isRead = false;
        return TRAILER_BYTES;
    }

    private int readHeader(FrameReader reader) throws IOException {
        if (!arrived.fill(PREFIX_BYTES)) {
            return 0;
        }
        int headerBytes = arrived.getInt(0);
        int payloadBytes = arrived.getInt(Integer.BYTES);
        if (isCounted && headerBytes == 0 && payloadBytes == NUDGE) {
            arrived.take(PREFIX_BYTES);
            return PREFIX_BYTES;
        }
        boolean isCounts = !isCounted && payloadBytes == COUNTS && headerBytes == COUNTS_BYTES;
        boolean isFrame = isCounted && payloadBytes >= 0 && payloadBytes <= MOST_PAYLOAD;
        if (!isCounts && !isFrame || headerBytes < 1 || headerBytes > MOST_HEADER) {
            throw new ProtocolException("a frame of " + headerBytes + " and " + payloadBytes + " bytes");
        }
        if (!arrived.fill(PREFIX_BYTES + headerBytes)) {
            return 0;
        }
        arrived.take(PREFIX_BYTES);
        int at = arrived.take(headerBytes);
        if (isCounts) {
            count(reader, arrived.getLong(at), arrived.getLong(at + Long.BYTES));
        } else {
            begin(reader.onHeader(arrived.bytes(), at, headerBytes, payloadBytes), payloadBytes);
        }
        return PREFIX_BYTES + headerBytes;
    }

    private void count(FrameReader reader, long writtenThere, long readThere) {
        isCounted = true;
        if (writtenThere != read || readThere != writtenBefore) {
            reader.onLost(writtenThere - read, writtenBefore - readThere);
        }
        read = writtenThere;
    }

    private void begin(MemorySegment memory, int payloadBytes) {
        if (payloadBytes == 0) {
            read++;
            return;
        }
        isRead = memory.byteSize() > 0;
        target = isRead ? memory.asByteBuffer() : past.duplicate().limit(payloadBytes);
        awaitsTrailer = true;
        inCrc.reset();
    }

    /** Closes the connection in order: the other side receives all bytes that the kernel has accepted. */
    void end() {
        key.cancel();
        rest.settle();
        LingeringClose.begin(wire);
    }

    /** Breaks the connection. */
    @Override
    public void close() {
        Connections.close(wire);
        rest.settle();
    }
}
