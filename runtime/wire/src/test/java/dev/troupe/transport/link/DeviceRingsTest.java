package dev.troupe.transport.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NamedMessages;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverHandle;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Two nodes of one machine with ranks that compute on one device, late: payloads go through rings of 2 MiB of its memory.
 */
@Tag("real")
@Timeout(120)
class DeviceRingsTest {
    private static final Edge EDGE = Samples.edge(0, 2);
    private static final Edge OTHER = Samples.edge(1, 3);
    /** INT32 elements: of more than a ring. */
    private static final int LARGE = 700_003;
    private static final int PIECES_OF_RING = 4;
    private static final int PIECE = 1 << 17;

    @TempDir
    Path folder;
    private final NamedMessages hook = new NamedMessages();
    private final SharedDevice from = SharedDevice.of(1);
    private final SharedDevice to = SharedDevice.of(2);
    private DriverHandle driver;
    private LinkTransport here;
    private LinkTransport there;
    private final Ear sender = new Ear();
    private final Ear receiver = new Ear();
    /** Rings of the node that ends first, which the other still has open then. */
    private int leftToTheProcess;

    @BeforeEach
    void start() {
        TransportSettings settings = new TransportSettings(Optional.of(folder.resolve("driver")), true, 1 << 20,
                Duration.ofSeconds(5));
        Endpoint machine = new Endpoint("localhost", 0);
        List<NodeMap> maps = IntStream.of(0, 1)
                .mapToObj(node -> new NodeMap(node, List.of(0, 0, 1, 1), List.of(machine, machine), Set.of(0, 1)))
                .toList();
        driver = DriverHandle.startShared(folder.resolve("driver"), maps, 0, settings);
        here = LinkTransport.start(maps.get(0), settings, hook);
        there = LinkTransport.start(maps.get(1), settings);
        List.of(0, 1).forEach(rank -> here.register(rank, sender));
        List.of(2, 3).forEach(rank -> there.register(rank, receiver));
    }

    @AfterEach
    void stop() {
        to.isHeld = false;
        from.isHeld = false;
        here.close();
        there.close();
        driver.close();
        assertEquals(leftToTheProcess, from.open.get() + to.open.get(), "shared memory is closed");
    }

    private Tensor grant(SharedDevice device, int elements) {
        Tensor buffer = device.zeros(elements);
        there.grant(0, EDGE, device.engine(), buffer);
        return buffer;
    }

    private void send(SharedDevice device, int microbatch, Tensor tensor) {
        here.send(Samples.id(EDGE, microbatch), device.engine(), tensor);
    }

    private void assertNothingByHost() {
        assertEquals(0, from.byHost.get() + to.byHost.get(), "bytes by way of the host");
    }

    @ParameterizedTest(name = "{0} elements, seed {1}")
    @CsvSource({"1, 1", "17, 2", "131072, 3", "131073, 4", "700003, 5", "700003, 6"})
    void shouldCarryMessagesBitForBitAndInOrder(int elements, long seed) throws InterruptedException {
        SharedDevice one = SharedDevice.of(10 * seed);
        SharedDevice other = SharedDevice.of(10 * seed + 5);
        List<Tensor> sources = new ArrayList<>();
        List<Tensor> targets = new ArrayList<>();
        for (int message = 0; message < 5; message++) {
            targets.add(grant(other, elements));
            sources.add(one.random(seed + message, elements));
            send(one, message, sources.get(message));
        }
        for (int message = 0; message < 5; message++) {
            Ear.Heard landed = Ear.next(receiver.landed);
            assertEquals(message, landed.id().microbatch());
            assertSame(targets.get(message), landed.tensor());
            assertArrayEquals(SharedDevice.randomBytes(seed + message, elements), other.bytes(landed.tensor()));
            assertSame(sources.get(message), Ear.next(sender.sent).tensor());
        }
        assertEquals(List.of(), Samples.pending(there), "by then its thread has counted the last one too");
        assertEquals(0, there.counters().droppedFrames());
        assertEquals(20L * elements, there.counters().bytesReceived());
        assertEquals(20L * elements, here.counters().bytesSent());
        assertEquals(0, one.byHost.get() + other.byHost.get());
        here.close();
        there.close();
        assertEquals(0, one.open.get() + other.open.get());
    }

    /** Both ways at once, each in rings of its own pairs. */
    @Test
    void shouldCarryBothWays() throws InterruptedException {
        Edge back = Samples.edge(2, 0);
        for (int message = 0; message < 3; message++) {
            grant(to, LARGE);
            here.grant(0, back, from.engine(), from.zeros(LARGE));
            send(from, message, from.random(message, LARGE));
            there.send(Samples.id(back, message), to.engine(), to.random(10 + message, LARGE));
        }
        for (int message = 0; message < 3; message++) {
            assertArrayEquals(SharedDevice.randomBytes(message, LARGE),
                    to.bytes(Ear.next(receiver.landed).tensor()));
            assertArrayEquals(SharedDevice.randomBytes(10 + message, LARGE),
                    from.bytes(Ear.next(sender.landed).tensor()));
        }
        assertNothingByHost();
        leftToTheProcess = 1;
    }

    @Test
    void shouldGoByTheHostIfTheSenderReachesNothing() throws InterruptedException {
        Tensor target = grant(to, LARGE);
        Tensor source = Samples.random(3, LARGE);
        here.send(Samples.id(EDGE, 0), Samples.ENGINE, source);
        assertSame(target, Ear.next(receiver.landed).tensor());
        assertArrayEquals(Samples.bytes(source), to.bytes(target));
        Samples.await(() -> to.open.get() == 0); // what nobody uses is given back
    }

    @Test
    void shouldGoByTheHostIfADeviceRefuses() throws InterruptedException {
        from.refusal = new IllegalStateException("another container");
        to.refusal = new IllegalStateException("no handle of such memory");
        for (Edge edge : List.of(EDGE, OTHER)) {
            Tensor target = to.zeros(LARGE);
            there.grant(0, edge, to.engine(), target);
            here.send(Samples.id(edge, 0), from.engine(), from.random(7, LARGE));
            assertSame(target, Ear.next(receiver.landed).tensor());
            assertArrayEquals(SharedDevice.randomBytes(7, LARGE), to.bytes(target));
            to.refusal = null; // the sender alone refuses
        }
        assertEquals(2L * 2 * LARGE * Integer.BYTES, from.byHost.get() + to.byHost.get(), "down and up, twice");
        Samples.await(() -> to.open.get() == 0);
    }

    @Test
    void shouldRefuseADamagedMessageAndLandTheNext() throws InterruptedException {
        grant(to, LARGE);
        Tensor damaged = from.zeros(LARGE);
        hook.damage(Samples.id(EDGE, 0));
        send(from, 0, damaged);
        assertSame(damaged, Ear.next(sender.sent).tensor(), "what is refused gives its room back");
        grant(to, LARGE);
        send(from, 1, from.random(8, LARGE));
        Ear.Heard landed = Ear.next(receiver.landed);
        assertEquals(1, landed.id().microbatch());
        assertArrayEquals(SharedDevice.randomBytes(8, LARGE), to.bytes(landed.tensor()));
        assertTrue(there.counters().dropped().get(DropReason.BAD_CHECKSUM) >= LARGE / PIECE);
        assertInstanceOf(TransportFault.DamageFault.class, Ear.next(receiver.faults));
        assertTrue(receiver.faults.isEmpty(), "one fault, however many frames");
        assertNothingByHost();
    }

    @Test
    void shouldLoseAMessageOnPurposeAndLandTheNext() throws InterruptedException {
        grant(to, LARGE);
        hook.lose(Samples.id(EDGE, 0));
        send(from, 0, from.zeros(LARGE));
        grant(to, LARGE);
        send(from, 1, from.random(8, LARGE));
        assertEquals(1, Ear.next(receiver.landed).id().microbatch());
        assertInstanceOf(TransportFault.MessageFault.class, Ear.next(receiver.faults));
    }

    /** The pieces that fill the ring have no header yet: their room is free again, and their tensor is read no more. */
    @Test
    void shouldTakeBackPiecesInFlightWhenAnEpochBegins() throws InterruptedException {
        from.isHeld = true;
        Tensor buffer = grant(to, LARGE);
        Tensor source = from.random(1, LARGE);
        send(from, 0, source);
        Samples.await(() -> from.toShared.get() == PIECES_OF_RING);
        there.epoch(1);
        here.epoch(1);
        assertSame(source, Ear.next(sender.returned));
        assertEquals(PIECES_OF_RING, from.awaited.get(), "the device reads it no more");
        assertSame(buffer, Ear.next(receiver.returned));
        from.isHeld = false;
        assertCarriesInEpoch(1);
    }

    /** The pieces that are being copied to the buffer have been read; it goes back when the device writes it no more. */
    @Test
    void shouldGiveABufferBackThatADeviceWritesNoMore() throws InterruptedException {
        to.isHeld = true;
        Tensor buffer = grant(to, LARGE);
        send(from, 0, from.random(1, LARGE));
        Samples.await(() -> to.fromShared.get() == PIECES_OF_RING && from.toShared.get() == PIECES_OF_RING);
        here.epoch(1);
        Ear.next(sender.returned);
        there.epoch(1);
        assertSame(buffer, Ear.next(receiver.returned));
        assertEquals(PIECES_OF_RING, to.awaited.get(), "the device writes it no more");
        to.isHeld = false;
        assertCarriesInEpoch(1);
        assertNull(receiver.faults.peek());
    }

    /** A message that is whole, but still being copied, does not land if an epoch begins first. */
    @Test
    void shouldGiveAWholeBufferBackThatHasNotLanded() throws InterruptedException {
        to.isHeld = true;
        Tensor buffer = grant(to, PIECE);
        Tensor source = from.random(1, PIECE);
        send(from, 0, source);
        assertSame(source, Ear.next(sender.sent).tensor());
        Samples.await(() -> to.fromShared.get() == 1);
        assertTrue(Samples.pending(there).stream().anyMatch(each -> each.state() == PendingTransfer.State.LANDING));
        there.epoch(1);
        here.epoch(1);
        assertSame(buffer, Ear.next(receiver.returned));
        assertNull(receiver.landed.peek());
        to.isHeld = false;
        assertCarriesInEpoch(1);
    }

    private void assertCarriesInEpoch(int epoch) throws InterruptedException {
        Tensor target = to.zeros(LARGE);
        there.grant(epoch, EDGE, to.engine(), target);
        here.send(new MessageId(epoch, 5, EDGE, 0), from.engine(), from.random(99, LARGE));
        assertSame(target, Ear.next(receiver.landed).tensor());
        assertArrayEquals(SharedDevice.randomBytes(99, LARGE), to.bytes(target));
        assertNothingByHost();
    }

    @Test
    void shouldHoldUpNoOtherRanksWhenARingIsFull() throws InterruptedException {
        to.isHeld = true;
        Tensor held = grant(to, LARGE);
        send(from, 0, from.random(1, LARGE));
        Samples.await(() -> to.fromShared.get() == PIECES_OF_RING);
        SharedDevice second = SharedDevice.of(20);
        SharedDevice fourth = SharedDevice.of(21);
        there.grant(0, OTHER, fourth.engine(), fourth.zeros(LARGE));
        here.send(Samples.id(OTHER, 0), second.engine(), second.random(2, LARGE));
        assertArrayEquals(SharedDevice.randomBytes(2, LARGE), fourth.bytes(Ear.next(receiver.landed).tensor()));
        assertEquals(PIECES_OF_RING, from.toShared.get(), "the ring has no room for more");
        to.isHeld = false;
        assertSame(held, Ear.next(receiver.landed).tensor());
        assertArrayEquals(SharedDevice.randomBytes(1, LARGE), to.bytes(held));
        here.close();
        there.close();
        assertEquals(0, second.open.get() + fourth.open.get());
    }

    @Test
    void shouldReportATensorThatADeviceCannotRead() throws InterruptedException {
        from.failure = new IllegalStateException("out of order");
        grant(to, LARGE);
        Tensor broken = from.random(1, LARGE);
        send(from, 0, broken);
        assertSame(broken, Ear.next(sender.returned));
        assertInstanceOf(TransportFault.SendFault.class, Ear.next(sender.faults));
        from.failure = null;
        send(from, 1, from.random(2, LARGE));
        grant(to, LARGE);
        assertArrayEquals(SharedDevice.randomBytes(2, LARGE), to.bytes(Ear.next(receiver.landed).tensor()));
    }

    /** All pieces are on their way before the one in the middle fails. */
    @Test
    void shouldNotLandAMessageWithAPieceMissing() throws InterruptedException {
        to.isHeld = true;
        to.failingRead = 1;
        Tensor buffer = grant(to, 3 * PIECE);
        Tensor next = grant(to, 3 * PIECE);
        send(from, 0, from.random(1, 3 * PIECE));
        Samples.await(() -> to.fromShared.get() == 3);
        send(from, 1, from.random(2, 3 * PIECE));
        to.isHeld = false;
        assertEquals(DropReason.LANDING_FAILED,
                assertInstanceOf(TransportFault.MessageFault.class, Ear.next(receiver.faults)).reason());
        Ear.Heard landed = Ear.next(receiver.landed);
        assertEquals(1, landed.id().microbatch());
        assertSame(next, landed.tensor());
        there.epoch(1);
        assertSame(buffer, Ear.next(receiver.returned));
    }

    @Test
    void shouldReportABufferThatADeviceCannotWrite() throws InterruptedException {
        to.failure = new IllegalStateException("out of order");
        grant(to, LARGE);
        grant(to, LARGE);
        send(from, 0, from.random(1, LARGE));
        assertEquals(DropReason.LANDING_FAILED,
                assertInstanceOf(TransportFault.MessageFault.class, Ear.next(receiver.faults)).reason());
        Ear.next(sender.sent);
        assertNull(receiver.landed.peek(), "with a piece that is missing");
        to.failure = null;
        there.epoch(1);
        here.epoch(1);
        assertCarriesInEpoch(1);
    }
}
