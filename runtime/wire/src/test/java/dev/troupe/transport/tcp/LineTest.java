package dev.troupe.transport.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.NodeMap;
import dev.troupe.wire.Rest;
import dev.troupe.wire.way.Outcome;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The two ends of a line of one thread, with a cable between them that can break. */
@Tag("real")
class LineTest {
    private static final int HEADER_BYTES = 16;
    private static final int LARGE = FrameStream.MOST_PAYLOAD;

    private final Arena arena = Arena.ofShared();
    private final Rest rest = Rest.open();
    private final WholeFrame answers = new WholeFrame(HEADER_BYTES, 0, (_, _) -> {
    }, _ -> MemorySegment.NULL);
    private long lost;
    private final WholeFrame arriving = new WholeFrame(HEADER_BYTES, LARGE, (from, _) -> lost += from,
            _ -> MemorySegment.NULL);
    private Relay relay;
    private Connections here;
    private Connections there;
    private Line near;
    private Line far;

    @BeforeEach
    void connect() throws IOException {
        relay = new Relay("127.0.0.2", freePort());
        List<Endpoint> endpoints = List.of(new Endpoint("127.0.0.1", 0), new Endpoint("127.0.0.2", relay.port()));
        here = connections(0, endpoints, new InetSocketAddress("127.0.0.1", 0));
        there = connections(1, endpoints, relay.target());
        near = new Line(here, LineName.tensors(1), 0, rest, LARGE, true);
        far = new Line(there, LineName.tensors(0), 0, rest, LARGE, true);
        await(() -> near.isConnected() && far.isConnected());
    }

    private static InetSocketAddress freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.2"))) {
            return new InetSocketAddress("127.0.0.2", free.getLocalPort());
        }
    }

    private static Connections connections(int self, List<Endpoint> endpoints, InetSocketAddress port)
            throws IOException {
        return new Connections(new NodeMap(self, List.of(0, 1), endpoints, Set.of()),
                DataPort.open(port, RunKey.open()), Optional.empty());
    }

    @AfterEach
    void close() throws IOException {
        near.close();
        far.close();
        here.close();
        there.close();
        relay.close();
        rest.close();
        arena.close();
    }

    /** Waits for a condition; both ends work meanwhile. */
    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            assertTrue(deadline - System.nanoTime() > 0, "not within 30 seconds");
            near.poll(answers, Integer.MAX_VALUE);
            near.flush();
            far.poll(arriving, Integer.MAX_VALUE);
            far.flush();
            LockSupport.parkNanos(100_000);
        }
    }

    private MemorySegment bytes(int length) {
        byte[] random = new byte[length];
        new Random(length).nextBytes(random);
        return arena.allocate(Math.max(1, length)).asSlice(0, length).copyFrom(MemorySegment.ofArray(random));
    }

    private void claim(int number, int payloadBytes) {
        await(() -> near.tryClaim(HEADER_BYTES, payloadBytes) == Outcome.ACCEPTED);
        near.buffer().putLong(near.offset(), number);
    }

    private void requireArrived(int number, MemorySegment payload) {
        await(arriving::isHere);
        assertEquals(number, arriving.buffer().getLong(0));
        assertEquals(HEADER_BYTES + payload.byteSize(), arriving.length());
        assertEquals(-1, arriving.memory().asSlice(HEADER_BYTES, payload.byteSize()).mismatch(payload));
        arriving.taken();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100, FrameStream.MOST_COPIED, FrameStream.MOST_COPIED + 1, LARGE})
    void shouldCarryAPayloadInPlaceOrOfItsOwner(int length) {
        MemorySegment payload = bytes(length);
        claim(1, length);
        near.payload().copyFrom(payload);
        near.commit();
        requireArrived(1, payload);
        claim(2, length);
        near.commit(payload, 0);
        requireArrived(2, payload);
    }

    @Test
    void shouldCarryNoFrameThatIsTakenBack() {
        claim(1, 8);
        near.abort();
        claim(2, 8);
        near.commit(bytes(8), 0);
        requireArrived(2, bytes(8));
    }

    @Test
    void shouldRefuseAPayloadThatIsDamaged() {
        claim(1, 8);
        assertTrue(near.damage());
        near.commit(bytes(8), 0);
        await(() -> lost == 1);
        claim(2, 8);
        near.commit(bytes(8), 0);
        requireArrived(2, bytes(8));
    }

    /** Sends frames that nobody reads until one is stuck in part; returns its number. */
    private int fill(MemorySegment payload) {
        for (int number = 1;; number++) {
            assertEquals(Outcome.ACCEPTED, near.tryClaim(HEADER_BYTES, LARGE));
            near.buffer().putLong(near.offset(), number);
            if (near.commit(payload, 0) == Outcome.BACK_PRESSURED && isStuck()) {
                assertTrue(near.isWriting());
                assertEquals(Outcome.BACK_PRESSURED, near.tryClaim(HEADER_BYTES, 0));
                return number;
            }
        }
    }

    /** Whether the kernels on the way have room for nothing more. */
    private boolean isStuck() {
        for (int look = 0; look < 100; look++) {
            if (near.push() != Outcome.BACK_PRESSURED) {
                return false;
            }
            LockSupport.parkNanos(1_000_000);
        }
        return true;
    }

    @Test
    void shouldContinueAFrameThatIsCommittedInPart() {
        MemorySegment payload = bytes(LARGE);
        int frames = fill(payload);
        for (int number = 1; number <= frames; number++) {
            requireArrived(number, payload);
        }
        assertEquals(Outcome.ACCEPTED, near.push());
        assertFalse(near.isWriting());
    }

    @Test
    void shouldNotReadMemoryThatIsWithdrawn() {
        MemorySegment payload = bytes(LARGE);
        MemorySegment sent = arena.allocate(LARGE).copyFrom(payload);
        int frames = fill(sent);
        near.withdraw();
        sent.fill((byte) 0);
        assertFalse(near.isWriting());
        // The kernel has the bytes of the frames before; the last one is refused.
        for (int number = 1; number < frames; number++) {
            requireArrived(number, payload);
        }
        claim(frames + 1, 8);
        near.commit(bytes(8), 0);
        requireArrived(frames + 1, bytes(8));
    }

    @Test
    void shouldReportAFrameThatWasLostWithItsConnection() throws IOException {
        fill(bytes(LARGE));
        int connection = near.connection();
        relay.cut();
        await(() -> near.connection() != connection);
        assertFalse(near.isWriting());
        assertEquals(Outcome.NOT_CONNECTED, near.push());
        arriving.taken();
        claim(77, 8);
        assertNotEquals(connection, near.connection());
        near.commit(bytes(8), 0);
        await(() -> {
            if (arriving.isHere() && arriving.buffer().getLong(0) != 77) {
                arriving.taken();
            }
            return arriving.isHere();
        });
        assertTrue(lost > 0);
    }

    @Test
    void shouldTakeNoFrameWithoutAConnection() {
        far.close();
        there.close();
        await(() -> !near.isConnected());
        assertEquals(Outcome.NOT_CONNECTED, near.tryClaim(HEADER_BYTES, 0));
        assertTrue(near.flush());
    }
}
