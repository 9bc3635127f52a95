package dev.troupe.transport.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NamedMessages;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.TransportCounters;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverDirectory;
import dev.troupe.transport.frame.FrameWriter;
import io.aeron.Aeron;
import io.aeron.Publication;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("real")
@Timeout(120)
class LinkTransportTest {
    private static final int WORLD_SIZE = 4;

    @TempDir
    Path folder;
    private final NamedMessages hook = new NamedMessages();
    private Path directory;
    private LinkTransport transport;
    private final List<Ear> ears = new ArrayList<>();

    @BeforeEach
    void start() {
        directory = folder.resolve("driver");
        transport = LinkTransport.start(NodeMap.single(WORLD_SIZE),
                new TransportSettings(Optional.of(directory), 1 << 20, Duration.ofSeconds(5)), hook);
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            ears.add(new Ear());
            transport.register(rank, ears.get(rank));
        }
    }

    @AfterEach
    void stop() {
        transport.close();
        assertFalse(Files.exists(directory), "close must leave no file");
        Samples.awaitNoTransportThread();
    }

    /** Grants two buffers. */
    private void grantTwo(Edge edge, int elements) {
        for (int credit = 0; credit < 2; credit++) {
            transport.grant(0, edge, Samples.ENGINE, Samples.zeros(elements));
        }
    }

    @Test
    void shouldNameTheProcessOfItsDriver() {
        assertEquals(OptionalLong.of(ProcessHandle.current().pid()), DriverDirectory.processOf(directory));
        assertEquals(OptionalLong.empty(), DriverDirectory.processOf(folder));
    }

    @Test
    void shouldRefuseADamagedMessageAndLandTheNext() throws InterruptedException {
        Edge edge = Samples.edge(0, 1);
        Tensor damaged = Samples.random(1, 20_000);
        Tensor whole = Samples.random(2, 20_000);
        grantTwo(edge, 20_000);
        hook.damage(Samples.id(edge, 0));
        transport.send(Samples.id(edge, 0), Samples.ENGINE, damaged);
        transport.send(Samples.id(edge, 1), Samples.ENGINE, whole);
        assertSame(damaged, Ear.next(ears.get(0).sent).tensor());
        Ear.Heard landed = Ear.next(ears.get(1).landed);
        assertEquals(Samples.id(edge, 1), landed.id());
        assertArrayEquals(Samples.bytes(whole), Samples.bytes(landed.tensor()));
        assertEquals(2, transport.counters().dropped().get(DropReason.BAD_CHECKSUM), "of 80,000 bytes in two frames");
        assertEquals(2, transport.counters().droppedFrames());
        assertEquals(0, assertInstanceOf(TransportFault.DamageFault.class, Ear.next(ears.get(1).faults)).node());
        assertTrue(ears.get(1).faults.isEmpty(), "one fault, whatever is missing now");
        assertTrue(ears.get(2).faults.isEmpty(), "it waits for nothing");
    }

    @Test
    void shouldNoticeALostMessageByTheNext() throws InterruptedException {
        Edge edge = Samples.edge(0, 1);
        Tensor lost = Samples.random(1, 100);
        grantTwo(edge, 100);
        hook.lose(Samples.id(edge, 0));
        transport.send(Samples.id(edge, 0), Samples.ENGINE, lost);
        assertSame(lost, Ear.next(ears.get(0).sent).tensor());
        transport.send(Samples.id(edge, 1), Samples.ENGINE, lost);
        assertEquals(1, Ear.next(ears.get(1).landed).id().microbatch());
        assertEquals(
                "1 of the messages from " + edge + " in epoch 0 did not come: number 1 is there, and before it number 0"
                        + " was expected",
                assertInstanceOf(TransportFault.MessageFault.class, Ear.next(ears.get(1).faults)).sentence());
        assertEquals(0, transport.counters().droppedFrames());
    }

    @Test
    void shouldCarryMessagesOfEverySizeBitForBit() throws InterruptedException {
        Edge edge = Samples.edge(0, 1);
        // One element; around one fragment (65,344 bytes of payload); many terms.
        int[] sizes = {1, 3, 97, 16_335, 16_336, 16_337, 32_672, 32_673, 262_144, 1_048_583, 10 << 20};
        for (int size : sizes) {
            try (Tensor source = Samples.random(size, size); Tensor target = Samples.zeros(size)) {
                transport.grant(0, edge, Samples.ENGINE, target);
                transport.send(Samples.id(edge, 1), Samples.ENGINE, source);
                Ear.Heard sent = Ear.next(ears.get(0).sent);
                assertSame(source, sent.tensor());
                Ear.Heard landed = Ear.next(ears.get(1).landed);
                assertSame(target, landed.tensor());
                assertEquals(Samples.id(edge, 1), landed.id());
                assertArrayEquals(Samples.bytes(source), Samples.bytes(target), size + " elements");
            }
        }
        assertEquals(List.of(), Samples.pending(transport), "by then its thread has counted the last one too");
        TransportCounters counters = transport.counters();
        assertEquals(sizes.length, counters.messagesSent());
        assertEquals(sizes.length, counters.messagesReceived());
        assertEquals(counters.bytesSent(), counters.bytesReceived());
        assertEquals(0, counters.droppedFrames());
    }

    @Test
    void shouldKeepManyInterleavedEdgesApartAndInOrder() throws InterruptedException {
        int perEdge = 8;
        List<Edge> edges = new ArrayList<>();
        for (int from = 0; from < WORLD_SIZE; from++) {
            for (int to = 0; to < WORLD_SIZE; to++) {
                for (MessageKind kind : MessageKind.values()) {
                    edges.add(new Edge(from, to, to + 4, kind));
                }
            }
        }
        for (int microbatch = 0; microbatch < perEdge; microbatch++) {
            for (Edge edge : edges) {
                transport.send(Samples.id(edge, microbatch), Samples.ENGINE,
                        Samples.random(seed(edge, microbatch), 20_000));
            }
        }
        // Two buffers an edge, granted again and again as they are filled.
        for (Edge edge : edges) {
            grantTwo(edge, 20_000);
        }
        Map<Edge, Integer> expected = new HashMap<>();
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            for (int count = 0; count < perEdge * edges.size() / WORLD_SIZE; count++) {
                Ear.Heard heard = Ear.next(ears.get(rank).landed);
                Edge edge = heard.id().edge();
                assertEquals(rank, edge.toRank());
                assertEquals(expected.merge(edge, 1, Integer::sum) - 1, heard.id().microbatch());
                try (Tensor sent = Samples.random(seed(edge, heard.id().microbatch()), 20_000)) {
                    assertArrayEquals(Samples.bytes(sent), Samples.bytes(heard.tensor()));
                }
                transport.grant(0, edge, Samples.ENGINE, heard.tensor());
            }
        }
        assertEquals(0, transport.counters().droppedFrames());
    }

    private static long seed(Edge edge, int microbatch) {
        return edge.key() * 31 + microbatch;
    }

    @Test
    void shouldWaitForNoEngine() throws InterruptedException {
        Edge edge = Samples.edge(2, 3);
        Samples.Gate made = new Samples.Gate();
        Samples.Gate free = new Samples.Gate();
        Tensor message = Samples.random(1, 1000);
        transport.send(Samples.id(edge, 0), Samples.behind(made), message);
        transport.grant(0, edge, Samples.behind(free), Samples.zeros(1000));
        assertEquals(List.of(PendingTransfer.State.SEND_WITHOUT_CREDIT, PendingTransfer.State.BUFFER_IN_USE),
                Samples.pending(transport).stream().map(PendingTransfer::state).sorted().toList());
        free.isOpen = true;
        transport.grant(0, Samples.edge(2, 1), Samples.ENGINE, Samples.zeros(10));
        transport.send(Samples.id(Samples.edge(2, 1), 0), Samples.ENGINE, Samples.zeros(10));
        Ear.next(ears.get(1).landed);
        assertNull(ears.get(3).landed.peek(), "the engine has not made it");
        made.isOpen = true;
        assertArrayEquals(Samples.bytes(message), Samples.bytes(Ear.next(ears.get(3).landed).tensor()));
    }

    @Test
    void shouldHoldMessagesUntilThereIsCredit() throws InterruptedException {
        Edge edge = Samples.edge(2, 3);
        for (int microbatch = 0; microbatch < 3; microbatch++) {
            transport.send(Samples.id(edge, microbatch), Samples.ENGINE, Samples.random(microbatch, 1000));
        }
        PendingTransfer held = Samples.pending(transport).getFirst();
        assertEquals(PendingTransfer.State.SEND_WITHOUT_CREDIT, held.state());
        assertEquals(3, held.count());
        assertEquals(edge, held.edge());
        transport.grant(0, edge, Samples.ENGINE, Samples.zeros(1000));
        assertEquals(0, Ear.next(ears.get(3).landed).id().microbatch());
        assertEquals(2, Samples.pending(transport).getFirst().count());
        // A loaded edge without credit is in nobody's way.
        Edge other = Samples.edge(2, 1);
        transport.grant(0, other, Samples.ENGINE, Samples.zeros(10));
        transport.send(Samples.id(other, 0), Samples.ENGINE, Samples.zeros(10));
        Ear.next(ears.get(1).landed);
        assertNull(ears.get(3).landed.peek());
        grantTwo(edge, 1000);
        assertEquals(1, Ear.next(ears.get(3).landed).id().microbatch());
        assertEquals(2, Ear.next(ears.get(3).landed).id().microbatch());
    }

    @Test
    void shouldGiveEverythingBackWhenTheEpochGrows() throws InterruptedException {
        Edge held = Samples.edge(0, 1);
        Edge granted = Samples.edge(2, 3);
        Tensor message = Samples.random(1, 100);
        Tensor buffer = Samples.zeros(100);
        transport.send(Samples.id(held, 0), Samples.ENGINE, message);
        transport.grant(0, granted, Samples.ENGINE, buffer);
        transport.epoch(1);
        assertSame(message, Ear.next(ears.get(0).returned));
        assertSame(buffer, Ear.next(ears.get(3).returned));
        transport.send(Samples.id(held, 0), Samples.ENGINE, message);
        assertSame(message, Ear.next(ears.get(0).returned), "of the epoch before");
        transport.send(new MessageId(1, 5, held, 0), Samples.ENGINE, message);
        transport.grant(1, held, Samples.ENGINE, buffer);
        assertEquals(1, Ear.next(ears.get(1).landed).id().epoch());
        assertThrows(IllegalArgumentException.class, () -> transport.epoch(0));
        assertThrows(IllegalArgumentException.class, () -> transport.grant(2, held, Samples.ENGINE, buffer));
    }

    @Test
    void shouldCountAndDropWhateverAStrangerWrites() throws InterruptedException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Edge edge = Samples.edge(0, 1);
        Tensor source = Samples.random(1, 500);
        Tensor target = Samples.zeros(500);
        transport.grant(0, edge, Samples.ENGINE, target);
        long frames = 0;
        FrameWriter writer = new FrameWriter(false); // as this node writes to itself
        try (Aeron stranger = Aeron.connect(new Aeron.Context().aeronDirectoryName(directory.toString()));
                Publication publication = stranger.addPublication("aeron:ipc", transport.ownStreamId())) {
            for (int round = 0; round < 200; round++) {
                UnsafeBuffer bytes;
                if (random.nextBoolean()) {
                    bytes = Samples.buffer(random.nextInt(300));
                    bytes.putBytes(0, Samples.randomBytes(random, bytes.capacity()));
                } else {
                    bytes = Samples.fragment(writer, Samples.id(edge, 0), source, 0, 2000);
                    int at = random.nextInt(FrameWriter.FRAGMENT_HEADER_BYTES);
                    bytes.putByte(at, (byte) (bytes.getByte(at) ^ 1 << random.nextInt(8)));
                }
                Samples.offer(publication, bytes);
                frames++;
            }
            // And well-formed ones that must not be believed.
            Samples.offer(publication,
                    Samples.fragment(writer, new MessageId(0, 0, Samples.edge(0, 9), 0), source, 0, 2000));
            Samples.offer(publication, Samples.fragment(writer, Samples.id(Samples.edge(1, 2), 0), source, 0, 2000));
            frames += 2;
        }
        transport.send(Samples.id(edge, 7), Samples.ENGINE, source);
        assertEquals(7, Ear.next(ears.get(1).landed).id().microbatch(), "seed " + seed);
        assertArrayEquals(Samples.bytes(source), Samples.bytes(target), "seed " + seed);
        assertInstanceOf(TransportFault.MessageFault.class, Ear.next(ears.get(2).faults));
        // A rank receives a frame just before it is counted.
        long all = frames;
        Samples.await(() -> transport.counters().droppedFrames() >= all, () -> "seed " + seed + ": of " + all
                + " frames were dropped: " + transport.counters());
        TransportCounters counters = transport.counters();
        assertEquals(frames, counters.droppedFrames(), "seed " + seed + ": " + counters);
        assertEquals(1, counters.dropped().get(DropReason.UNKNOWN_RANK));
        assertEquals(1, counters.dropped().get(DropReason.NO_BUFFER));
        assertTrue(counters.dropped().get(DropReason.BAD_CHECKSUM) > 0, "seed " + seed);
        assertTrue(counters.dropped().get(DropReason.BAD_MAGIC) > 0, "seed " + seed);
    }

    @Test
    void shouldReportATensorThatCannotBeRead() throws InterruptedException {
        Edge edge = Samples.edge(0, 1);
        Tensor broken = Samples.zeros(100);
        grantTwo(edge, 100);
        transport.send(Samples.id(edge, 0), Samples.failing("toHost"), broken);
        assertSame(broken, Ear.next(ears.get(0).returned));
        assertInstanceOf(TransportFault.SendFault.class, Ear.next(ears.get(0).faults));
        transport.send(Samples.id(edge, 1), Samples.ENGINE, Samples.zeros(100));
        assertEquals(1, Ear.next(ears.get(1).landed).id().microbatch());
    }

    @Test
    void shouldContinueWhenAListenerThrows() throws InterruptedException {
        Edge edge = Samples.edge(0, 1);
        transport.register(0, new Ear() {
            @Override
            public void onSent(MessageId id, Tensor tensor, long creditNanos) {
                throw new IllegalStateException("a rank that is not well");
            }
        });
        for (int microbatch = 0; microbatch < 2; microbatch++) {
            transport.grant(0, edge, Samples.ENGINE, Samples.zeros(10));
            transport.send(Samples.id(edge, microbatch), Samples.ENGINE, Samples.zeros(10));
            assertEquals(microbatch, Ear.next(ears.get(1).landed).id().microbatch());
        }
    }

    @Tag("long")
    @Test
    void shouldReportWhereItsThreadIsAndCloseAnyway() throws InterruptedException {
        Edge edge = Samples.edge(0, 1);
        var entered = new CountDownLatch(1);
        var leave = new CompletableFuture<Void>();
        transport.register(0, new Ear() {
            @Override
            public void onSent(MessageId id, Tensor tensor, long creditNanos) {
                entered.countDown();
                leave.join();
            }
        });
        transport.grant(0, edge, Samples.ENGINE, Samples.zeros(10));
        transport.send(Samples.id(edge, 0), Samples.ENGINE, Samples.zeros(10));
        assertTrue(entered.await(30, TimeUnit.SECONDS));
        String sentence = assertThrows(IllegalStateException.class, transport::pending).getMessage();
        assertTrue(sentence.contains("did not answer") && sentence.contains("park"), sentence);
        assertTimeout(Duration.ofSeconds(20), transport::close, "close must be bounded");
        leave.complete(null);
        Samples.awaitNoTransportThread();
    }

    @Test
    void shouldReturnEveryTensorWhenItCloses() throws InterruptedException {
        Tensor message = Samples.zeros(100);
        Tensor buffer = Samples.zeros(100);
        transport.send(Samples.id(Samples.edge(0, 1), 0), Samples.ENGINE, message);
        transport.grant(0, Samples.edge(2, 3), Samples.ENGINE, buffer);
        transport.close();
        assertSame(message, Ear.next(ears.get(0).returned));
        assertSame(buffer, Ear.next(ears.get(3).returned));
        assertThrows(IllegalStateException.class,
                () -> transport.send(Samples.id(Samples.edge(0, 1), 0), Samples.ENGINE, message));
        assertEquals(List.of(), Samples.pending(transport));
        transport.close();
    }

    @Test
    void shouldRefuseWhatItCannotCarry() {
        Tensor five = Samples.zeros(1, 1, 1, 1, 1);
        Edge edge = Samples.edge(0, 1);
        assertThrows(IllegalArgumentException.class, () -> transport.grant(0, edge, Samples.ENGINE, five));
        assertThrows(IllegalArgumentException.class, () -> transport.register(WORLD_SIZE, new Ear()));
        assertThrows(IllegalArgumentException.class,
                () -> transport.send(Samples.id(Samples.edge(0, 9), 0), Samples.ENGINE, Samples.zeros(1)));
    }
}
