package dev.troupe.transport.aeron;

import dev.troupe.protocol.Edge;
import dev.troupe.transport.Counters;
import dev.troupe.transport.FrameHook;
import dev.troupe.transport.tcp.Connections;
import dev.troupe.transport.tcp.FrameReader;
import dev.troupe.transport.tcp.FrameStream;
import dev.troupe.transport.tcp.Line;
import dev.troupe.transport.tcp.LineName;
import dev.troupe.wire.Rest;
import dev.troupe.wire.Window;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The TCP connection to one node of another machine and from it, while there is one. Where frames were lost with one that
 * broke, the ranks that wait are told.
 */
final class SocketLink extends Link implements FrameReader {
    /** Bytes that are read before other nodes have their turn: some 0.3 ms. */
    private static final int BYTES_PER_POLL = 1 << 20;

    private final Line line;
    private final FrameWriter writer = new FrameWriter(false);
    private final Window window = new Window();
    /** The payload of tensors that have no memory of this process. */
    private final UnsafeBuffer copied = new UnsafeBuffer(ByteBuffer.allocateDirect(FrameStream.MOST_PAYLOAD));
    private final PostedReceives.Landing landing = new PostedReceives.Landing();
    private final MemorySegment arriving = MemorySegment
            .ofBuffer(ByteBuffer.allocateDirect(FrameStream.MOST_PAYLOAD));
    private boolean arrivesInTensor;
    /** Set by the latest {@link #poll}. */
    private Arrivals arrivals;
    /** The message of which a fragment is being written, or null. */
    private SendQueue.Outgoing writing;
    private int writingLength;

    SocketLink(int node, int since, Connections connections, Rest rest, long timeoutNanos,
            Counters counters, FrameHook hook) {
        super(node, timeoutNanos, counters, hook);
        this.line = new Line(connections, LineName.tensors(node), since, rest);
    }

    /** Takes a connection that is ready, in place of any before, which is broken then; returns whether there was one. */
    boolean renew() {
        if (!line.renew()) {
            return false;
        }
        writing = null; // the fragment is written again
        if (line.stream() != null) {
            connected();
        }
        return true;
    }

    private void broken(IOException failure) {
        writing = null;
        line.broken(failure);
    }

    @Override
    Outcome sendFragment(SendQueue.Outgoing message, long nowNanos) {
        if (line.stream() == null) {
            return notConnected(nowNanos);
        }
        try {
            if (writing != null) {
                SendQueue.Outgoing before = writing;
                if (!finish() || before == message) {
                    return writing == null ? Outcome.SENT : backPressured();
                }
            }
            return hasRoom() ? begin(message) : backPressured();
        } catch (IOException failure) {
            broken(failure);
            return Outcome.LATER;
        }
    }

    private boolean hasRoom() throws IOException {
        if (!line.stream().hasRoom()) {
            line.stream().flush();
        }
        return line.stream().hasRoom();
    }

    private Outcome begin(SendQueue.Outgoing message) throws IOException {
        int length = (int) Math.min(message.remaining(), FrameStream.MOST_PAYLOAD);
        boolean isDamaged = damages(message);
        int at = line.stream().begin(FrameWriter.FRAGMENT_HEADER_BYTES, length);
        MutableDirectBuffer buffer = line.stream().buffer();
        writer.header(buffer, at, message.id, message.number, message.tensor, message.position, length);
        try {
            if (length <= FrameStream.MOST_COPIED) {
                message.read(window.segment(buffer, at + FrameWriter.FRAGMENT_HEADER_BYTES, length));
                line.stream().commit(FrameWriter.FRAGMENT_HEADER_BYTES, length, isDamaged);
                return left(message, length);
            }
            line.stream().commit(FrameWriter.FRAGMENT_HEADER_BYTES, payload(message, length), isDamaged);
        } catch (RuntimeException unreadable) {
            line.stream().abort();
            return unreadable(unreadable);
        }
        writing = message;
        writingLength = length;
        return finish() ? Outcome.SENT : backPressured();
    }

    private MemorySegment payload(SendQueue.Outgoing message, int length) {
        Optional<MemorySegment> own = message.engine.hostMemory(message.tensor);
        if (own.isPresent()) {
            return own.get().asSlice(message.position, length);
        }
        MemorySegment copy = window.segment(copied, 0, length);
        message.read(copy);
        return copy;
    }

    /** Continues the fragment that is being written; returns whether all of it has left. */
    private boolean finish() throws IOException {
        if (!line.stream().push()) {
            return false;
        }
        left(writing, writingLength);
        writing = null;
        return true;
    }

    @Override
    Outcome putCredit(int epoch, Edge edge, int count, long nowNanos) {
        if (line.stream() == null) {
            return notConnected(nowNanos);
        }
        try {
            if (writing != null && !finish() || !hasRoom()) {
                return backPressured();
            }
            int at = line.stream().begin(FrameWriter.CREDIT_BYTES, 0);
            writer.credit(line.stream().buffer(), at, epoch, edge, count);
            line.stream().commit(FrameWriter.CREDIT_BYTES, 0, false);
            return Outcome.SENT;
        } catch (IOException failure) {
            broken(failure);
            return Outcome.LATER;
        }
    }

    @Override
    int flush(long nowNanos) {
        if (line.stream() == null) {
            return 0;
        }
        try {
            line.stream().flush();
        } catch (IOException failure) {
            broken(failure);
        }
        return 0;
    }

    @Override
    void withdraw(int epoch) {
        if (writing != null && writing.id.epoch() < epoch) {
            line.stream().withdraw();
            writing = null;
        }
    }

    /** Receives the bytes that have arrived, up to a limit; returns their number. */
    int poll(Arrivals takes) {
        if (line.stream() == null) {
            return 0;
        }
        arrivals = takes;
        try {
            return line.stream().read(this, BYTES_PER_POLL);
        } catch (IOException failure) {
            broken(failure);
            return 1;
        }
    }

    @Override
    public void onLost(long from, long to) {
        arrivals.onLost(node(), from, to);
    }

    @Override
    public MemorySegment onHeader(DirectBuffer buffer, int offset, int length, int payloadBytes) throws IOException {
        if (!arrivals.onHeader(node(), buffer, offset, length, payloadBytes, landing)) {
            return MemorySegment.NULL;
        }
        Optional<MemorySegment> own = arrivals.memory(landing);
        arrivesInTensor = own.isPresent();
        return own.orElseGet(() -> arriving.asSlice(0, payloadBytes));
    }

    @Override
    public boolean isWanted() {
        return arrivals.isOpen(landing);
    }

    @Override
    public void onPayload(boolean isWhole) {
        arrivals.onPayload(node(), landing, isWhole,
                arrivesInTensor ? Optional.empty() : Optional.of(arriving.asSlice(0, landing.length())));
    }

    @Override
    void close() {
        release();
    }

    @Override
    void release() {
        line.close();
    }
}
