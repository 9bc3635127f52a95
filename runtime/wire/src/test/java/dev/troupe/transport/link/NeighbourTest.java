package dev.troupe.transport.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NamedMessages;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverHandle;
import java.nio.file.Path;
import java.time.Duration;
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
import org.junit.jupiter.params.provider.ValueSource;

/** Two nodes of one machine, between which payloads go through a ring of 512 KiB. */
@Tag("real")
@Timeout(120)
class NeighbourTest {
    private static final Edge EDGE = Samples.edge(0, 1);
    /** INT32 elements of many times the ring. */
    private static final int LARGE = 1_000_003;

    @TempDir
    Path folder;
    private final NamedMessages hook = new NamedMessages();
    private DriverHandle driver;
    private LinkTransport here;
    private LinkTransport there;
    private final Ear sender = new Ear();
    private final Ear receiver = new Ear();

    @BeforeEach
    void start() {
        TransportSettings settings = new TransportSettings(Optional.of(folder.resolve("driver")), true, 1 << 20,
                Duration.ofSeconds(5));
        Endpoint machine = new Endpoint("localhost", 0);
        List<NodeMap> maps = IntStream.of(0, 1)
                .mapToObj(node -> new NodeMap(node, List.of(0, 1), List.of(machine, machine), Set.of(0, 1))).toList();
        driver = DriverHandle.startShared(folder.resolve("driver"), maps, 0, settings);
        here = LinkTransport.start(maps.get(0), settings, hook);
        there = LinkTransport.start(maps.get(1), settings);
        here.register(0, sender);
        there.register(1, receiver);
    }

    @AfterEach
    void stop() {
        here.close();
        there.close();
        driver.close();
    }

    private Tensor grant(int elements) {
        Tensor buffer = Samples.zeros(elements);
        there.grant(0, EDGE, Samples.ENGINE, buffer);
        return buffer;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 15, 17, 16_384, 131_072, LARGE})
    void shouldCarryMessagesBitForBit(int elements) throws InterruptedException {
        for (int message = 0; message < 5; message++) {
            Tensor source = Samples.random(message, elements);
            Tensor target = grant(elements);
            here.send(Samples.id(EDGE, message), Samples.ENGINE, source);
            assertSame(target, Ear.next(receiver.landed).tensor());
            assertArrayEquals(Samples.bytes(source), Samples.bytes(target));
        }
        assertEquals(List.of(), Samples.pending(there), "by then its thread has counted the last one too");
        assertEquals(0, there.counters().droppedFrames());
        assertEquals(20L * elements, there.counters().bytesReceived());
    }

    @Test
    void shouldRefuseADamagedMessageAndLandTheNext() throws InterruptedException {
        grant(LARGE);
        Tensor source = Samples.random(7, LARGE);
        Tensor damaged = Samples.zeros(LARGE);
        hook.damage(Samples.id(EDGE, 0));
        here.send(Samples.id(EDGE, 0), Samples.ENGINE, damaged);
        assertSame(damaged, Ear.next(sender.sent).tensor(), "what is refused gives its room back");
        grant(LARGE);
        here.send(Samples.id(EDGE, 1), Samples.ENGINE, source);
        Ear.Heard landed = Ear.next(receiver.landed);
        assertEquals(1, landed.id().microbatch());
        assertArrayEquals(Samples.bytes(source), Samples.bytes(landed.tensor()));
        assertTrue(there.counters().dropped().get(DropReason.BAD_CHECKSUM) > 60);
        assertInstanceOf(TransportFault.DamageFault.class, Ear.next(receiver.faults));
        assertTrue(receiver.faults.isEmpty(), "one fault, however many frames");
    }

    @Test
    void shouldDropAMessageWithoutABufferAndLandTheNext() throws InterruptedException {
        there.grant(0, EDGE, Samples.failing("fromHost"), Samples.zeros(LARGE));
        here.send(Samples.id(EDGE, 0), Samples.ENGINE, Samples.zeros(LARGE));
        Ear.next(sender.sent);
        assertInstanceOf(TransportFault.MessageFault.class, Ear.next(receiver.faults));
        there.epoch(1);
        here.epoch(1);
        Tensor source = Samples.random(9, LARGE);
        Tensor target = Samples.zeros(LARGE);
        there.grant(1, EDGE, Samples.ENGINE, target);
        here.send(new MessageId(1, 5, EDGE, 0), Samples.ENGINE, source);
        assertSame(target, Ear.next(receiver.landed).tensor());
        assertArrayEquals(Samples.bytes(source), Samples.bytes(target));
    }

    @Test
    void shouldContinueAfterATensorThatCannotBeRead() throws InterruptedException {
        Tensor broken = Samples.zeros(LARGE);
        grant(LARGE);
        grant(LARGE);
        here.send(Samples.id(EDGE, 0), Samples.failing("toHost"), broken);
        assertSame(broken, Ear.next(sender.returned));
        Tensor source = Samples.random(11, LARGE);
        here.send(Samples.id(EDGE, 1), Samples.ENGINE, source);
        assertArrayEquals(Samples.bytes(source), Samples.bytes(Ear.next(receiver.landed).tensor()));
    }
}
