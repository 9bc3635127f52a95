package dev.troupe.rank.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.protocol.Pass;
import dev.troupe.rank.RecordingTransport;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NamedMessages;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("actor")
@Timeout(60)
class FaultyTransportTest {
    private static final Edge FORTH = new Edge(0, 1, 1, MessageKind.ACTIVATION);
    private static final Edge BACK = new Edge(1, 0, 0, MessageKind.GRADIENT);
    /** Longer than any of these tests. */
    private static final int MICROBATCHES = 1 << 20;
    private static final String LONG = " seconds=3600";

    @TempDir
    private Path directory;

    private final Engine engine = new ReferenceEngine(DataType.FLOAT32);
    private final NamedMessages faulty = new NamedMessages();
    private final RecordingTransport wire = new RecordingTransport(faulty);
    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    private final ManualTimer timer = new ManualTimer();
    private List<String> due = List.of();
    private FaultInjector injector;
    private FaultyTransport transport;

    /** With faults that all strike in the test. */
    private void start(String... faults) {
        startIdle(faults);
        due = List.of(faults);
    }

    /** With faults that no message of the test is for. */
    private void startIdle(String... faults) {
        injector = FaultInjector.of(
                Stream.of(faults).map(text -> FaultSpec.parse(text, "", "")).toList(), directory, "node-0",
                new ProcessDamage());
        transport = new FaultyTransport(wire, faulty, injector, edge -> edge.stage() == 1 ? 0 : 1, MICROBATCHES,
                rank -> rank == 0,
                timer::nanoTime, timer);
        transport.register(0, new TransportListener() {
            @Override
            public void onLanded(MessageId id, Tensor tensor, int rows) {
                heard.add("landed " + id.microbatch());
            }

            @Override
            public void onSent(MessageId id, Tensor tensor, long creditNanos) {
                heard.add("sent " + id.microbatch());
            }

            @Override
            public void onReturned(Edge edge, Tensor tensor) {
                heard.add("returned");
            }

            @Override
            public void onEpoch(int epoch) {
                heard.add("epoch " + epoch);
            }

            @Override
            public void onFault(TransportFault fault) {
                heard.add(fault.sentence());
            }
        });
    }

    @AfterEach
    void stop() {
        transport.close();
        engine.close();
        assertEquals(due.stream().map(text -> FaultSpec.parse(text, "", "").text()).toList(),
                FaultLog.read(directory).stream().map(FiredFault::fault).toList());
    }

    private MessageId send(Edge edge, int microbatch) {
        MessageId id = new MessageId(0, new Pass(5, Pass.Kind.TRAINING).number(), edge, microbatch);
        transport.send(id, engine, engine.allocate(DataType.FLOAT32, Shape.of(1)));
        return id;
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T found = queue.poll(30, TimeUnit.SECONDS);
        assertNotNull(found, "nothing came within 30 seconds");
        return found;
    }

    private void read(MessageId id) {
        wire.listener.onSent(id, null, 0);
    }

    /** The rank of the test takes a message, and gives a buffer for another. */
    private void takes(int microbatch) {
        injector.at(FaultPoint.RECEIVE, 1, 1, 5, microbatch, FaultMessage.ACTIVATION);
        transport.grant(0, FORTH, engine, engine.allocate(DataType.FLOAT32, Shape.of(1)));
    }

    @Test
    void shouldGrantACreditLateAndAtTheLatestBeforeTheEpochGrows() throws InterruptedException {
        start("late-credit rank=1 microbatch=1 seconds=2", "late-credit rank=1 microbatch=3" + LONG);
        takes(0);
        assertEquals("grant of epoch 0", next(wire.done));
        takes(1);
        takes(2);
        assertEquals("grant of epoch 0", next(wire.done));
        assertEquals(List.of(), List.copyOf(wire.done));
        timer.advance(Duration.ofSeconds(2));
        assertEquals("grant of epoch 0", next(wire.done));
        takes(3);
        transport.epoch(1);
        assertEquals("grant of epoch 0", next(wire.done));
        assertEquals("epoch 1 after 0 messages", next(wire.done));
    }

    @Test
    void shouldForwardMessagesWithoutAFault() throws InterruptedException {
        startIdle("drop microbatch=1 stage=0");
        MessageId first = send(FORTH, 0);
        MessageId other = send(new Edge(0, 1, 2, MessageKind.ACTIVATION), 1);
        assertEquals(List.of(first, other), List.copyOf(wire.sent));
        read(first);
        assertEquals("sent 0", next(heard));
    }

    @Test
    void shouldForwardMessagesOfValidation() throws InterruptedException {
        startIdle("drop");
        MessageId validation = new MessageId(0, new Pass(5, Pass.Kind.VALIDATION).number(), FORTH, 0);
        transport.send(validation, engine, engine.allocate(DataType.FLOAT32, Shape.of(1)));
        assertEquals(validation, next(wire.sent));
    }

    @Test
    void shouldReportAnEpochToTheRank() throws InterruptedException {
        startIdle("drop");
        wire.listener.onEpoch(3);
        assertEquals("epoch 3", next(heard));
    }

    @Test
    void shouldLoseAMessageOnTheWire() throws InterruptedException {
        start("drop microbatch=1 stage=0");
        MessageId lost = send(FORTH, 1);
        assertEquals(List.of("lost 1"), List.copyOf(wire.done));
        wire.listener.onSent(lost, null, 0);
        assertNull(wire.sent.poll());
        assertEquals(send(FORTH, 1), next(wire.sent), "it strikes once");
    }

    @Test
    void shouldSendTwiceAndGiveTheTensorBackOnce() throws InterruptedException {
        start("duplicate");
        MessageId id = send(FORTH, 0);
        assertEquals(id, next(wire.sent));
        read(id);
        assertEquals(id, next(wire.sent));
        assertNull(heard.poll(), "the tensor is still to be read");
        read(id);
        assertEquals("sent 0", next(heard));
        assertNull(wire.sent.poll());
    }

    @Test
    void shouldLetTheNextOfItsWayOvertake() throws InterruptedException {
        start("reorder microbatch=0" + LONG);
        MessageId first = send(FORTH, 0);
        MessageId otherWay = send(BACK, 1);
        MessageId second = send(FORTH, 1);
        assertEquals(List.of(otherWay, second, first), List.of(next(wire.sent), next(wire.sent), next(wire.sent)));
    }

    @Test
    void shouldNotHoldTheLastOfItsWayForEver() throws InterruptedException {
        start("reorder seconds=0.01");
        MessageId last = send(FORTH, 0);
        timer.advance(Duration.ofMillis(9));
        assertEquals(List.of(), List.copyOf(wire.sent));
        timer.advance(Duration.ofMillis(1));
        assertEquals(last, next(wire.sent));
    }

    @Test
    void shouldSendLateAndKeepTheOrderOfAnEdge() throws InterruptedException {
        start("delay microbatch=0 stage=0 seconds=0.2");
        MessageId late = send(FORTH, 0);
        List<MessageId> behind = List.of(send(FORTH, 1), send(FORTH, 2), send(FORTH, 3));
        MessageId otherWay = send(BACK, 0);
        assertEquals(otherWay, next(wire.sent));
        timer.advance(Duration.ofMillis(199));
        assertEquals(List.of(), List.copyOf(wire.sent));
        timer.advance(Duration.ofMillis(1));
        assertEquals(late, next(wire.sent));
        assertEquals(behind, List.of(next(wire.sent), next(wire.sent), next(wire.sent)));
        assertEquals(send(FORTH, 4), next(wire.sent));
    }

    @Test
    void shouldDamageAMessage() throws InterruptedException {
        start("corrupt microbatch=1");
        MessageId whole = send(FORTH, 0);
        send(FORTH, 1);
        assertEquals(List.of(whole), List.copyOf(wire.sent));
        assertEquals(List.of("damaged 1"), List.copyOf(wire.done));
    }

    @Test
    void shouldHoldNothingBeyondAnEpoch() throws InterruptedException {
        start("delay" + LONG);
        send(FORTH, 0);
        transport.epoch(1);
        assertEquals("epoch 1 after 1 messages", next(wire.done));
    }

    @Test
    void shouldFollowRanksToTheirNewNodes() throws InterruptedException {
        start("delay microbatch=0" + LONG);
        send(FORTH, 0);
        Endpoint here = new Endpoint("localhost", 0);
        transport.epoch(1, new NodeMap(0, List.of(1, 0), List.of(here, here), Set.of(1)));
        assertEquals("epoch 1 after 1 messages, ranks on [1, 0]", next(wire.done));
        next(wire.sent);
        transport.cut(Duration.ofMillis(200));
        MessageId there = send(BACK, 1);
        assertEquals(send(FORTH, 1), next(wire.sent), "its receiver lives here now");
        timer.advance(Duration.ofMillis(200));
        assertEquals(there, next(wire.sent));
    }

    @Test
    void shouldHoldNothingWhenItCloses() throws InterruptedException {
        start("reorder" + LONG);
        send(FORTH, 0);
        transport.close();
        assertEquals("close after 1 messages", next(wire.done));
    }

    @Test
    void shouldHoldMessagesToOtherNodesWhileTheLinkIsCut() throws InterruptedException {
        startIdle("drop step=9");
        transport.cut(Duration.ofMillis(200));
        MessageId there = send(FORTH, 0);
        MessageId here = send(BACK, 1);
        assertEquals(here, next(wire.sent));
        timer.advance(Duration.ofMillis(200));
        assertEquals(there, next(wire.sent));
        assertEquals(send(FORTH, 1), next(wire.sent));
    }
}
