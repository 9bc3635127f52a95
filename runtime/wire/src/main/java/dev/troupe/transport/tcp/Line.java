package dev.troupe.transport.tcp;

import dev.troupe.wire.Rest;
import dev.troupe.wire.Window;
import dev.troupe.wire.way.FrameReader;
import dev.troupe.wire.way.FrameWay;
import dev.troupe.wire.way.Outcome;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * One end of a line: the carrier over a connection to a process of another machine. A broken connection is made again, and
 * {@link #poll} adopts it. Both sides then exchange their counts of frames, which reveals lost ones. After a failed write
 * the connection is still read to its end, since the other side may have sent the reason.
 *
 * <p>Thread rule: one thread; a new connection wakes its {@link Rest}.
 */
public final class Line implements FrameWay, Connections.End {
    private static final Logger LOG = LoggerFactory.getLogger(Line.class);
    private static final int NEVER = -1;

    private final Connections connections;
    private final LineName name;
    private final int since;
    private final Rest rest;
    private final int maxPayload;
    private final boolean isSealed;
    private final AtomicReference<Connections.Ready> made = new AtomicReference<>();
    private volatile boolean isClosed;
    private volatile int overtakenBy = NEVER;
    private final Window window = new Window();
    /** Memory for large payloads without memory of their own; null until needed. */
    private UnsafeBuffer staging;
    /** Null while disconnected. */
    private FrameStream stream;
    private int connection;
    private long written;
    private long read;
    private int offset;
    private int headerBytes;
    private int payloadBytes;
    private boolean isDamaged;
    /** Whether a committed frame is incomplete. */
    private boolean isWriting;
    /** The failure since which the connection accepts no bytes, or null. */
    private IOException failure;

    /**
     * Creates a line, and requests its connection.
     *
     * @param since the epoch of the request, the same at both ends
     * @param maxPayload the most bytes of a payload, at most {@link FrameStream#MOST_PAYLOAD}
     * @param isSealed whether headers end with {@link FrameStream#SEAL_BYTES} free bytes for a checksum
     */
    public Line(Connections connections, LineName name, int since, Rest rest, int maxPayload, boolean isSealed) {
        this.connections = connections;
        this.name = name;
        this.since = since;
        this.rest = rest;
        this.maxPayload = maxPayload;
        this.isSealed = isSealed;
        connections.want(name, since, this);
    }

    @Override
    public void onReady(Connections.Ready ready) {
        replaceMade(ready);
        if (isClosed) {
            replaceMade(null);
        }
        rest.wake();
    }

    private void replaceMade(Connections.Ready ready) {
        Connections.Ready unused = made.getAndSet(ready);
        if (unused != null) {
            unused.close();
        }
    }

    @Override
    public void onOvertaken(int epoch) {
        overtakenBy = epoch;
        rest.wake();
    }

    /** Returns the later epoch in which the other end has the line, if any. */
    public Optional<Integer> overtakenBy() {
        return overtakenBy == NEVER ? Optional.empty() : Optional.of(overtakenBy);
    }

    @Override
    public int maxPayload(int header) {
        return maxPayload;
    }

    @Override
    public Outcome tryClaim(int header, int payload) {
        if (!isConnected()) {
            return Outcome.NOT_CONNECTED;
        }
        try {
            if (!stream.push() || !hasRoom()) {
                return Outcome.BACK_PRESSURED;
            }
        } catch (IOException why) {
            return failed(why);
        }
        isWriting = false;
        headerBytes = header;
        payloadBytes = payload;
        isDamaged = false;
        offset = stream.begin(header, payload);
        return Outcome.ACCEPTED;
    }

    private boolean hasRoom() throws IOException {
        if (!stream.hasRoom()) {
            stream.flush();
        }
        return stream.hasRoom();
    }

    private Outcome failed(IOException why) {
        failure = why;
        isWriting = false;
        return Outcome.NOT_CONNECTED;
    }

    @Override
    public MutableDirectBuffer buffer() {
        return stream.buffer();
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
            return window.segment(stream.buffer(), offset + headerBytes, payloadBytes);
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
        stream.commit(headerBytes, payloadBytes, isDamaged);
        return Outcome.ACCEPTED;
    }

    @Override
    public Outcome commit(MemorySegment source, long from) {
        if (readsMemory(payloadBytes)) {
            return write(source.asSlice(from, payloadBytes));
        }
        seal();
        stream.commitCopy(headerBytes, source, from, payloadBytes, isDamaged);
        return Outcome.ACCEPTED;
    }

    private Outcome write(MemorySegment payload) {
        seal();
        stream.commit(headerBytes, payload, isDamaged);
        isWriting = true;
        return push();
    }

    private void seal() {
        if (isSealed) {
            stream.seal(headerBytes);
        }
    }

    @Override
    public void abort() {
        stream.abort();
    }

    @Override
    public boolean isWriting() {
        return isWriting;
    }

    @Override
    public Outcome push() {
        if (!isWriting) {
            return Outcome.NOT_CONNECTED;
        }
        try {
            isWriting = !stream.push();
            return isWriting ? Outcome.BACK_PRESSURED : Outcome.ACCEPTED;
        } catch (IOException why) {
            return failed(why);
        }
    }

    @Override
    public void withdraw() {
        if (isWriting) {
            stream.withdraw();
            isWriting = false;
        }
    }

    /** {@inheritDoc} Frames that are lost with a connection are counted on the next one. */
    @Override
    public boolean flush() {
        try {
            return !isConnected() || stream.flush();
        } catch (IOException why) {
            failed(why);
            return true;
        }
    }

    /** {@inheritDoc} Returns the number of arrived bytes, or 1 if the connection broke. */
    @Override
    public int poll(FrameReader reader, int mostBytes) {
        renew();
        if (stream == null) {
            return 0;
        }
        try {
            int bytes = stream.read(reader, mostBytes);
            boolean isAtItsEnd = bytes == 0 && failure != null && !reader.isFull();
            return isAtItsEnd ? broken(failure) : bytes;
        } catch (IOException why) {
            return broken(why);
        }
    }

    /** Adopts a connection made since the last call, in place of any earlier one. */
    private void renew() {
        Connections.Ready ready = made.getPlain() == null ? null : made.getAndSet(null);
        if (ready == null) {
            return;
        }
        drop();
        try {
            stream = new FrameStream(ready, rest, written, read);
        } catch (IOException why) {
            ready.close();
            broken(why);
        }
    }

    /** Drops the connection after a failure, and requests another. */
    private int broken(IOException why) {
        // An ending process closes its connections; the others detect its end elsewhere.
        LOG.atLevel(why instanceof EOFException ? Level.DEBUG : Level.WARN)
                .log("the connection to node {} broke and is made again: {}", name.node(), why.toString());
        drop();
        connections.want(name, since, this);
        return 1;
    }

    private void drop() {
        isWriting = false;
        failure = null;
        connection++;
        if (stream != null) {
            written = stream.written();
            read = stream.read();
            stream.close();
            stream = null;
        }
    }

    /** Sets whether the selector waits for bytes from the other side. */
    public void watchData(boolean isAwaited) {
        if (stream != null) {
            stream.watchData(isAwaited);
        }
    }

    @Override
    public boolean isConnected() {
        return stream != null && failure == null;
    }

    /** {@inheritDoc} Always false, since a broken connection is made again. */
    @Override
    public boolean isClosed() {
        return false;
    }

    @Override
    public int connection() {
        return connection;
    }

    /** Closes the connection after its last frames, and withdraws the request. Closing twice has no effect. */
    @Override
    public void close() {
        isClosed = true;
        connections.forget(name, this);
        replaceMade(null);
        isWriting = false;
        if (stream != null) {
            stream.end();
            stream = null;
        }
    }
}
