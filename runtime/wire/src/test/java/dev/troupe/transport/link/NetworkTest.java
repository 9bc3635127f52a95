package dev.troupe.transport.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NamedMessages;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.tcp.Connections;
import dev.troupe.transport.tcp.Relay;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two nodes as if on two machines, over TCP, with a cable between them that can break. Node 0 calls. */
@Tag("real")
@Timeout(120)
class NetworkTest {
    private static final Edge EDGE = Samples.edge(0, 1);
    /** INT32 elements of more bytes than all the buffers between two sockets of this machine hold. */
    private static final int HUGE = 16 << 20;
    private static final int LARGE = 1_000_003;

    @TempDir
    Path folder;
    private final NamedMessages hook = new NamedMessages();
    private Relay relay;
    private LinkTransport here;
    private LinkTransport there;
    private final Ear sender = new Ear();
    private final Ear receiver = new Ear();
    /** The memory of tensors of {@link #ownMemory}, which the reference engine does not have. */
    private final Map<Tensor, MemorySegment> memory = new ConcurrentHashMap<>();

    @BeforeEach
    void start() throws IOException {
        InetSocketAddress port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.2"))) {
            port = new InetSocketAddress("127.0.0.2", free.getLocalPort());
            relay = new Relay("127.0.0.2", port);
        }
        here = start(0, new InetSocketAddress("127.0.0.1", 0));
        there = start(1, port);
        here.register(0, sender);
        there.register(1, receiver);
    }

    private LinkTransport start(int self, InetSocketAddress port) {
        NodeMap nodes = new NodeMap(self, List.of(0, 1),
                List.of(new Endpoint("127.0.0.1", 0), new Endpoint("127.0.0.2", relay.port())), Set.of(0, 1));
        return LinkTransport.start(nodes, new TransportSettings(Optional.of(folder.resolve("driver" + self)), 1 << 20,
                Duration.ofSeconds(5)), Optional.of(connections(nodes, port)), hook);
    }

    private static Connections connections(NodeMap nodes, InetSocketAddress port) {
        try {
            return new Connections(nodes, DataPort.open(port, RunKey.open()), Optional.empty());
        } catch (IOException refused) {
            throw new UncheckedIOException(refused);
        }
    }

    @AfterEach
    void stop() throws IOException {
        here.close();
        there.close();
        relay.close();
    }

    /** The reference engine, but its tensors have memory of their own, as in a faster engine. */
    private Engine ownMemory() {
        return (Engine) Proxy.newProxyInstance(Samples.class.getClassLoader(), new Class<?>[]{Engine.class},
                (_, called, arguments) -> {
                    if (called.getName().equals("hostMemory")) {
                        return Optional.of(memory.computeIfAbsent((Tensor) arguments[0],
                                tensor -> Arena.ofAuto().allocate(tensor.byteCount())));
                    }
                    try {
                        return called.invoke(Samples.ENGINE, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private Tensor grant(int epoch, int elements) {
        Tensor buffer = Samples.zeros(elements);
        there.grant(epoch, EDGE, Samples.ENGINE, buffer);
        return buffer;
    }

    /** Exchanges a message in an epoch. */
    private void requireCarries(int epoch, int elements) throws InterruptedException {
        Tensor source = Samples.random(epoch + elements, elements);
        Tensor target = grant(epoch, elements);
        here.send(new MessageId(epoch, 5, EDGE, 0), Samples.ENGINE, source);
        assertSame(target, Ear.next(receiver.landed).tensor());
        assertArrayEquals(Samples.bytes(source), Samples.bytes(target));
    }

    private void begin(int epoch) {
        there.epoch(epoch);
        here.epoch(epoch);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 15, 2_048, 2_049, 65_536, 65_537, LARGE})
    void shouldCarryMessagesBitForBit(int elements) throws InterruptedException {
        for (int message = 0; message < 3; message++) {
            requireCarries(0, elements);
        }
        Samples.await(() -> there.counters().bytesReceived() == 12L * elements);
        assertEquals(here.counters().bytesSent(), there.counters().bytesReceived());
        assertEquals(0, there.counters().droppedFrames());
    }

    @Test
    void shouldReadAndWriteTheMemoryOfTensors() throws InterruptedException {
        Engine engine = ownMemory();
        for (int elements : new int[]{7, 70_000, LARGE}) {
            Tensor source = Samples.random(elements, elements);
            Tensor target = Samples.zeros(elements);
            engine.hostMemory(source).orElseThrow().copyFrom(MemorySegment.ofArray(Samples.bytes(source)));
            there.grant(0, EDGE, engine, target);
            here.send(Samples.id(EDGE, 1), engine, source);
            assertSame(target, Ear.next(receiver.landed).tensor());
            assertArrayEquals(Samples.bytes(source), memory.get(target).toArray(ValueLayout.JAVA_BYTE));
        }
        assertEquals(0, there.counters().droppedFrames());
    }

    @Test
    void shouldRefuseADamagedMessageAndLandTheNext() throws InterruptedException {
        grant(0, LARGE);
        grant(0, LARGE);
        Tensor damaged = Samples.zeros(LARGE);
        hook.damage(Samples.id(EDGE, 0));
        here.send(Samples.id(EDGE, 0), Samples.ENGINE, damaged);
        assertSame(damaged, Ear.next(sender.sent).tensor());
        Tensor source = Samples.random(7, LARGE);
        here.send(Samples.id(EDGE, 1), Samples.ENGINE, source);
        Ear.Heard landed = Ear.next(receiver.landed);
        assertEquals(1, landed.id().microbatch());
        assertArrayEquals(Samples.bytes(source), Samples.bytes(landed.tensor()));
        assertTrue(there.counters().dropped().get(DropReason.BAD_CHECKSUM) > 0);
        assertInstanceOf(TransportFault.DamageFault.class, Ear.next(receiver.faults));
        assertTrue(receiver.faults.isEmpty(), "one fault, however many frames");
    }

    @Test
    void shouldNoticeALostMessageByTheNext() throws InterruptedException {
        grant(0, 100);
        grant(0, 100);
        hook.lose(Samples.id(EDGE, 0));
        here.send(Samples.id(EDGE, 0), Samples.ENGINE, Samples.zeros(100));
        here.send(Samples.id(EDGE, 1), Samples.ENGINE, Samples.zeros(100));
        assertEquals(1, Ear.next(receiver.landed).id().microbatch());
        assertInstanceOf(TransportFault.MessageFault.class, Ear.next(receiver.faults));
    }

    @Test
    void shouldReportAFlippedBitAndContinueInTheNextEpoch() throws InterruptedException {
        requireCarries(0, 10);
        grant(0, LARGE);
        relay.flip(relay.carried() + 2_000_000);
        here.send(Samples.id(EDGE, 1), Samples.ENGINE, Samples.random(1, LARGE));
        var fault = assertInstanceOf(TransportFault.DamageFault.class, Ear.next(receiver.faults));
        assertTrue(fault.sentence().startsWith("a frame from node 0 does not fit its checksum"), fault.sentence());
        assertNull(receiver.landed.peek());
        begin(1);
        requireCarries(1, LARGE);
    }

    /** A damaged header does not show the beginning of the next one. */
    @Test
    void shouldMakeTheConnectionAgainIfAHeaderIsDamaged() throws InterruptedException {
        requireCarries(0, 10);
        grant(0, LARGE);
        Tensor source = Samples.random(1, LARGE);
        byte[] payload = Arrays.copyOf(Samples.bytes(source), 16);
        relay.flipBefore(12, new String(payload, StandardCharsets.ISO_8859_1));
        here.send(Samples.id(EDGE, 1), Samples.ENGINE, source);
        assertInstanceOf(TransportFault.DamageFault.class, Ear.next(receiver.faults));
        assertTrue(relay.hasFound());
        begin(1);
        requireCarries(1, LARGE);
    }

    @Test
    void shouldReportLossesOfABrokenConnectionAndContinueInTheNextEpoch() throws Exception {
        requireCarries(0, 10);
        Tensor buffer = grant(0, HUGE);
        long before = here.counters().backPressured();
        relay.stop();
        here.send(Samples.id(EDGE, 1), Samples.ENGINE, Samples.random(1, HUGE));
        Samples.await(() -> here.counters().backPressured() > before); // whole fragments are on their way
        relay.cut();
        relay.go();
        var fault = assertInstanceOf(TransportFault.DamageFault.class, Ear.next(receiver.faults));
        assertTrue(fault.sentence().startsWith("the connection to node 0 broke, and lost "), fault.sentence());
        begin(1);
        assertSame(buffer, Ear.next(receiver.returned));
        requireCarries(1, LARGE);
    }

    @Test
    void shouldLoseNothingIfAnIdleConnectionBreaks() throws Exception {
        requireCarries(0, LARGE);
        int begun = relay.begun();
        relay.cut();
        Samples.await(() -> relay.begun() > begun);
        requireCarries(0, LARGE);
        assertTrue(receiver.faults.isEmpty() && sender.faults.isEmpty(), "nothing was on its way");
    }

    @Test
    void shouldGiveATensorBackThatIsHalfWritten() throws InterruptedException {
        requireCarries(0, 10);
        Engine engine = ownMemory();
        Tensor source = Samples.random(1, HUGE);
        Tensor buffer = grant(0, HUGE);
        relay.stop();
        here.send(Samples.id(EDGE, 1), engine, source);
        Samples.await(() -> here.counters().backPressured() > 0);
        begin(1);
        assertSame(source, Ear.next(sender.returned));
        assertSame(buffer, Ear.next(receiver.returned));
        memory.get(source).fill((byte) -1); // it is its rank's again
        relay.go();
        requireCarries(1, LARGE);
        assertTrue(receiver.faults.isEmpty(), "what was withdrawn is no damage");
    }
}
