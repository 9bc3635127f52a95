package dev.troupe.transport.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NamedMessages;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportSettings;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tensors that ranks of one process hand to each other, in the host's memory and on devices. */
@Tag("real")
@Timeout(120)
class HandOversTest {
    private static final Edge EDGE = Samples.edge(0, 1);
    /** Some pieces and a rest. */
    private static final int ELEMENTS = 500_001;
    /** Headers that the transport's thread writes before it reads. */
    private static final int PIECES_OF_ROUND = 16;

    @TempDir
    Path folder;
    private final NamedMessages hook = new NamedMessages();
    private LinkTransport transport;
    private final Ear sender = new Ear();
    private final Ear receiver = new Ear();

    @BeforeEach
    void start() {
        transport = LinkTransport.start(NodeMap.single(2),
                new TransportSettings(Optional.of(folder.resolve("driver")), 1 << 20, Duration.ofSeconds(5)), hook);
        transport.register(0, sender);
        transport.register(1, receiver);
    }

    @AfterEach
    void stop() {
        transport.close();
    }

    @Test
    void shouldReadTheMemoryOfATensor() throws InterruptedException {
        try (Arena arena = Arena.ofShared()) {
            byte[] bytes = new byte[ELEMENTS * Integer.BYTES];
            new Random(1).nextBytes(bytes);
            MemorySegment memory = arena.allocate(bytes.length, Long.BYTES).copyFrom(MemorySegment.ofArray(bytes));
            Tensor message = Samples.zeros(ELEMENTS);
            Tensor buffer = Samples.zeros(ELEMENTS);
            CountDownLatch copies = new CountDownLatch(1);
            CountDownLatch mayCopy = new CountDownLatch(1);
            transport.grant(0, EDGE, Samples.before("fromHost", () -> {
                copies.countDown();
                awaited(mayCopy);
            }), buffer);
            transport.send(Samples.id(EDGE, 0), Samples.in(memory), message);
            awaited(copies);
            assertNull(sender.sent.peek(), "it is copied before its rank has it back");
            mayCopy.countDown();
            assertSame(buffer, Ear.next(receiver.landed).tensor());
            assertSame(message, Ear.next(sender.sent).tensor());
            assertArrayEquals(memory.toArray(ValueLayout.JAVA_BYTE), Samples.bytes(buffer));
            assertEquals(bytes.length, transport.counters().bytesReceived());
        }
    }

    private static void awaited(CountDownLatch latch) {
        try {
            assertTrue(latch.await(30, TimeUnit.SECONDS), "nothing came within 30 seconds");
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    @Test
    void shouldStayOnADeviceThatTwoEnginesShare() throws InterruptedException {
        assertEquals(0, bytesByHost(3, 3));
    }

    @Test
    void shouldGoByTheHostBetweenDevices() throws InterruptedException {
        assertEquals(2L * ELEMENTS * Integer.BYTES, bytesByHost(3, 4), "down from the one and up to the other");
    }

    private long bytesByHost(int from, int to) throws InterruptedException {
        Tensor message = Samples.random(7, ELEMENTS);
        Tensor buffer = Samples.zeros(ELEMENTS);
        Map<Tensor, Integer> devices = new IdentityHashMap<>(Map.of(message, from, buffer, to));
        AtomicLong byHost = new AtomicLong();
        transport.grant(0, EDGE, Samples.on(to, devices, byHost), buffer);
        transport.send(Samples.id(EDGE, 0), Samples.on(from, devices, byHost), message);
        assertSame(buffer, Ear.next(receiver.landed).tensor());
        assertArrayEquals(Samples.bytes(message), Samples.bytes(buffer));
        assertSame(message, Ear.next(sender.sent).tensor());
        return byHost.get();
    }

    @Test
    void shouldRefuseADamagedMessageAndLandTheNext() throws InterruptedException {
        try (Arena arena = Arena.ofShared()) {
            Engine engine = Samples.in(arena.allocate(ELEMENTS * Integer.BYTES, Long.BYTES).fill((byte) 3));
            transport.grant(0, EDGE, Samples.ENGINE, Samples.zeros(ELEMENTS));
            transport.grant(0, EDGE, Samples.ENGINE, Samples.zeros(ELEMENTS));
            hook.damage(Samples.id(EDGE, 0));
            transport.send(Samples.id(EDGE, 0), engine, Samples.zeros(ELEMENTS));
            transport.send(Samples.id(EDGE, 1), engine, Samples.zeros(ELEMENTS));
            assertEquals(1, Ear.next(receiver.landed).id().microbatch());
            assertInstanceOf(TransportFault.DamageFault.class, Ear.next(receiver.faults));
            assertEquals(8, transport.counters().dropped().get(DropReason.BAD_CHECKSUM), "2,000,004 bytes in pieces");
        }
    }

    /** A tensor that went back to its rank may be written: of a header that is in the stream then nothing is copied. */
    @Test
    void shouldCopyNothingOfATensorThatWentBack() throws InterruptedException {
        int elements = 3_000_000;
        Semaphore copies = new Semaphore(0);
        Semaphore mayCopy = new Semaphore(0);
        Engine slow = Samples.before("fromHost", () -> {
            copies.release();
            mayCopy.acquireUninterruptibly();
        });
        try (Arena arena = Arena.ofShared()) {
            Engine engine = Samples.in(arena.allocate(elements * Integer.BYTES, Long.BYTES));
            Tensor message = Samples.zeros(elements);
            Tensor buffer = Samples.zeros(elements);
            transport.grant(0, EDGE, slow, buffer);
            transport.send(Samples.id(EDGE, 0), engine, message);
            copies.acquire();
            // A credit in front of the next pieces, so that the last of them is not read in their round.
            transport.grant(0, Samples.edge(1, 0), Samples.ENGINE, Samples.zeros(1));
            mayCopy.release(PIECES_OF_ROUND);
            copies.acquire(PIECES_OF_ROUND);
            transport.epoch(1);
            mayCopy.release(PIECES_OF_ROUND);
            assertSame(message, Ear.next(sender.returned));
            assertSame(buffer, Ear.next(receiver.returned));
            transport.grant(1, EDGE, Samples.ENGINE, Samples.zeros(10));
            transport.send(new MessageId(1, 5, EDGE, 0), Samples.ENGINE, Samples.zeros(10));
            assertEquals(1, Ear.next(receiver.landed).id().epoch());
            assertEquals(1, transport.counters().dropped().get(DropReason.OLD_EPOCH));
            assertEquals(PIECES_OF_ROUND - 2, copies.drainPermits(), "one is the credit's place, one was waited for");
            assertNull(receiver.faults.peek());
        }
    }
}
