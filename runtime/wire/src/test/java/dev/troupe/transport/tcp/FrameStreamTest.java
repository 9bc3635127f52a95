package dev.troupe.transport.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.wire.Rest;
import dev.troupe.wire.way.FrameReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FrameStreamTest {
    private static final int HEADER_BYTES = 4;
    private static final int LENGTHS_BYTES = 8;
    private static final int COUNTS_BYTES = LENGTHS_BYTES + 16;
    private static final int CHECKSUM_AND_STATE_BYTES = 8;
    private static final int NUDGES = 4;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Rest rest = Rest.open();
    private final List<AutoCloseable> open = new ArrayList<>(List.of(rest));
    private SocketChannel nearSocket;
    private SocketChannel farSocket;

    @BeforeEach
    void connect() throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            nearSocket = SocketChannel.open(server.getLocalAddress());
            farSocket = server.accept();
        }
        nearSocket.configureBlocking(false);
        farSocket.configureBlocking(false);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    @Test
    void shouldSendNudgesAfterTheLastFrame() throws IOException {
        FrameStream near = stream(nearSocket);
        write(near, 42);
        int expected = COUNTS_BYTES + LENGTHS_BYTES + HEADER_BYTES + NUDGES * LENGTHS_BYTES;
        ByteBuffer bytes = ByteBuffer.allocate(expected + 1).order(ByteOrder.LITTLE_ENDIAN);

        until(() -> bytes.position() >= expected, () -> {
            near.flush();
            farSocket.read(bytes);
            if (bytes.position() < expected) {
                rest.untilReady(PATIENCE.toMillis()); // ends in time for the next one
            }
        });

        assertEquals(expected, bytes.position());
        for (int nudge = 1; nudge <= NUDGES; nudge++) {
            int at = expected - nudge * LENGTHS_BYTES;
            assertEquals(0, bytes.getInt(at));
            assertEquals(-2, bytes.getInt(at + Integer.BYTES));
        }
    }

    @Test
    void shouldReadOverNudges() throws IOException {
        FrameStream near = stream(nearSocket);
        FrameStream far = stream(farSocket);
        Headers headers = new Headers();
        write(near, 42);
        long began = System.nanoTime();
        until(() -> System.nanoTime() - began > Duration.ofMillis(60).toNanos(), () -> { // two or three of them
            near.flush();
            far.read(headers, Integer.MAX_VALUE);
            rest.untilReady(1);
        });
        write(near, 43);

        until(() -> headers.read.size() == 2, () -> {
            near.flush();
            far.read(headers, Integer.MAX_VALUE);
        });

        assertEquals(List.of(42, 43), headers.read);
        assertEquals(2, near.written());
        assertEquals(2, far.read());
    }

    /** To close the socket at once would break it off: there are bytes that nobody has read, and others to be sent. */
    @Test
    void shouldSendAllThatItHasWrittenWhereItEnds() throws IOException {
        FrameStream near = stream(nearSocket);
        MemorySegment payload = MemorySegment.ofArray(new byte[FrameStream.MOST_COPIED]);
        int frames = 40; // more than the other side's kernel takes unread
        for (int frame = 0; frame < frames; frame++) {
            near.begin(HEADER_BYTES, FrameStream.MOST_COPIED);
            near.commitCopy(HEADER_BYTES, payload, 0, FrameStream.MOST_COPIED, false);
            assertTrue(near.flush(), "the kernel takes no more");
        }
        farSocket.write(ByteBuffer.allocate(1));

        near.end();

        ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
        AtomicBoolean isOver = new AtomicBoolean();
        until(isOver::get, () -> isOver.set(farSocket.read(bytes) < 0));
        int frameBytes = LENGTHS_BYTES + HEADER_BYTES + FrameStream.MOST_COPIED + CHECKSUM_AND_STATE_BYTES;
        assertEquals(COUNTS_BYTES + frames * frameBytes, bytes.position());
        farSocket.close();
        until(() -> !nearSocket.isOpen(), Thread::yield);
    }

    private FrameStream stream(SocketChannel socket) throws IOException {
        FrameStream stream = new FrameStream(new Connections.Ready(1, new PlainWire(socket)), rest, 0, 0);
        open.add(stream);
        return stream;
    }

    private static void write(FrameStream stream, int header) {
        stream.buffer().putInt(stream.begin(HEADER_BYTES, 0), header);
        stream.commit(HEADER_BYTES, 0, false);
    }

    private interface Round {
        void run() throws IOException;
    }

    private static void until(BooleanSupplier isDone, Round round) throws IOException {
        long began = System.nanoTime();
        while (!isDone.getAsBoolean()) {
            assertTrue(System.nanoTime() - began < PATIENCE.toNanos(), "not done within " + PATIENCE);
            round.run();
        }
    }

    /** The first number of each header. */
    private static final class Headers implements FrameReader {
        private final List<Integer> read = new ArrayList<>();

        @Override
        public MemorySegment onHeader(DirectBuffer buffer, int offset, int length, int payloadBytes) {
            read.add(buffer.getInt(offset));
            return MemorySegment.NULL;
        }

        @Override
        public boolean isWanted() {
            return true;
        }

        @Override
        public void onPayload(boolean isWhole) {
            throw new AssertionError("no frame has a payload");
        }

        @Override
        public void onLost(long from, long to) {
            throw new AssertionError("frames were lost: " + from + ", " + to);
        }
    }
}
