package dev.troupe.wire.way;

import dev.troupe.transport.tcp.FrameReader;
import dev.troupe.transport.tcp.FrameStream;
import dev.troupe.transport.tcp.Line;
import dev.troupe.wire.Window;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A connection to another process of another machine and from it, while there is one. One that breaks is made again, and
 * taken by {@link #poll}. One that takes no bytes any more is read to its end, since the other side may have sent the reason.
 */
public final class SocketCarrier implements FrameWay {
    private final Line line;
    private final int maxPayload;
    private final boolean isSealed;
    private final Window window = new Window();
    /** Large payloads that are written in place; null until there is one. */
    private UnsafeBuffer staging;
    private int connection;
    /** The connection of the claimed frame. */
    private FrameStream claimed;
    private int offset;
    private int headerBytes;
    private int payloadBytes;
    private boolean isDamaged;
    /** The connection of the frame that is committed in part, or null. */
    private FrameStream writing;
    /** The connection that takes no bytes any more, or null, with the reason. */
    private FrameStream ending;
    private IOException failure;

    /**
     * @param maxPayload the most bytes of a payload, at most {@link FrameStream#MOST_PAYLOAD}
     * @param isSealed whether headers end with {@link FrameStream#SEAL_BYTES} free bytes for a checksum
     */
    public SocketCarrier(Line line, int maxPayload, boolean isSealed) {
        this.line = line;
        this.maxPayload = maxPayload;
        this.isSealed = isSealed;
    }

    /** Returns the connection that takes frames, or null. */
    private FrameStream stream() {
        FrameStream stream = line.stream();
        return stream == ending ? null : stream;
    }

    private Outcome failed(FrameStream stream, IOException why) {
        writing = null;
        ending = stream;
        failure = why;
        return Outcome.NOT_CONNECTED;
    }

    @Override
    public int maxPayload(int header) {
        return maxPayload;
    }

    @Override
    public Outcome tryClaim(int header, int payload) {
        FrameStream stream = stream();
        if (stream == null) {
            return Outcome.NOT_CONNECTED;
        }
        try {
            if (!stream.push() || !hasRoom(stream)) {
                return Outcome.BACK_PRESSURED;
            }
        } catch (IOException why) {
            return failed(stream, why);
        }
        writing = null;
        claimed = stream;
        headerBytes = header;
        payloadBytes = payload;
        isDamaged = false;
        offset = stream.begin(header, payload);
        return Outcome.ACCEPTED;
    }

    private static boolean hasRoom(FrameStream stream) throws IOException {
        if (!stream.hasRoom()) {
            stream.flush();
        }
        return stream.hasRoom();
    }

    @Override
    public MutableDirectBuffer buffer() {
        return claimed.buffer();
    }

    @Override
    public int offset() {
        return offset;
    }

    @Override
    public boolean readsMemory(int bytes) {
        return bytes > FrameStream.MOST_COPIED;
    }

    @Override
    public MemorySegment payload() {
        if (!readsMemory(payloadBytes)) {
            return window.segment(claimed.buffer(), offset + headerBytes, payloadBytes);
        }
        if (staging == null) {
            staging = new UnsafeBuffer(ByteBuffer.allocateDirect(maxPayload));
        }
        return window.segment(staging, 0, payloadBytes);
    }

    @Override
    public boolean damage() {
        isDamaged = true;
        return true;
    }

    @Override
    public Outcome commit() {
        if (readsMemory(payloadBytes)) {
            return write(payload());
        }
        seal();
        claimed.commit(headerBytes, payloadBytes, isDamaged);
        return Outcome.ACCEPTED;
    }

    @Override
    public Outcome commit(MemorySegment source, long from) {
        if (readsMemory(payloadBytes)) {
            return write(source.asSlice(from, payloadBytes));
        }
        seal();
        claimed.commitCopy(headerBytes, source, from, payloadBytes, isDamaged);
        return Outcome.ACCEPTED;
    }

    private Outcome write(MemorySegment payload) {
        seal();
        claimed.commit(headerBytes, payload, isDamaged);
        writing = claimed;
        return push();
    }

    private void seal() {
        if (isSealed) {
            claimed.seal(headerBytes);
        }
    }

    @Override
    public void abort() {
        claimed.abort();
    }

    @Override
    public boolean isWriting() {
        return writing != null;
    }

    @Override
    public Outcome push() {
        FrameStream stream = stream();
        if (stream == null || stream != writing) {
            writing = null;
            return Outcome.NOT_CONNECTED;
        }
        try {
            if (!stream.push()) {
                return Outcome.BACK_PRESSURED;
            }
        } catch (IOException why) {
            return failed(stream, why);
        }
        writing = null;
        return Outcome.ACCEPTED;
    }

    @Override
    public void withdraw() {
        if (writing != null && writing == line.stream()) {
            writing.withdraw();
        }
        writing = null;
    }

    @Override
    public boolean flush() {
        FrameStream stream = stream();
        if (stream == null) {
            return true; // frames that are lost with a connection are counted when there is another
        }
        try {
            return stream.flush();
        } catch (IOException why) {
            failed(stream, why);
            return true;
        }
    }

    /** {@inheritDoc} Returns the bytes that have arrived, or 1 if the connection has broken. */
    @Override
    public int poll(FrameReader reader, int mostBytes) {
        if (line.renew()) {
            reset();
        }
        FrameStream stream = line.stream();
        if (stream == null) {
            return 0;
        }
        try {
            int bytes = stream.read(reader, mostBytes);
            boolean isAtItsEnd = bytes == 0 && stream == ending && !reader.isFull();
            return isAtItsEnd ? broken(failure) : bytes;
        } catch (IOException why) {
            return broken(why);
        }
    }

    private int broken(IOException why) {
        reset();
        line.broken(why);
        return 1;
    }

    private void reset() {
        writing = null;
        ending = null;
        connection++;
    }

    /** Reports to the selector whether bytes from the other side are awaited. */
    public void watchData(boolean isAwaited) {
        if (line.stream() != null) {
            line.stream().watchData(isAwaited);
        }
    }

    /** Returns the later epoch in which the other end has the line; empty if there is none. */
    public Optional<Integer> overtakenBy() {
        return line.overtakenBy();
    }

    @Override
    public boolean isConnected() {
        return stream() != null;
    }

    /** {@inheritDoc} Never: a connection that breaks is made again. */
    @Override
    public boolean isClosed() {
        return false;
    }

    @Override
    public int connection() {
        return connection;
    }

    @Override
    public void close() {
        line.close();
    }
}
