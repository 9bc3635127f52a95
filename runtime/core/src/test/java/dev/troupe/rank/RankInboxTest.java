package dev.troupe.rank;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.group.ParallelLayout;
import dev.troupe.engine.Tensor;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.MessageKind;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.RankEvent;
import dev.troupe.rank.warmup.WarmUpGroups;
import dev.troupe.run.actor.SmallRun;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NamedMessages;
import dev.troupe.transport.TransportFault;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The inbox of rank 1 of two, which has the last stage: activations land, gradients are sent. */
@Tag("actor")
class RankInboxTest implements RankListener {
    private static final Edge FORTH = new Edge(0, 1, 1, MessageKind.ACTIVATION);
    private static final Pass PASS = new Pass(3, Pass.Kind.TRAINING);
    private static final Action RECEIVE = Action.parse("1RECV_F0");

    @TempDir
    private Path home;
    private final SmallRun run = new SmallRun();
    private final RecordingTransport transport = new RecordingTransport(new NamedMessages());
    private final List<Object> events = new ArrayList<>();
    private RankResources rank;
    private StageWorker stage;

    @BeforeEach
    void open() {
        TrainingPlan plan = TrainingPlan.of(SmallRun.MODEL,
                new StageSettings(1, 4, 4, new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1)), "uniform",
                Schedules.named("1f1b"), new ParallelLayout(2, 1, 1), false, Zero.NONE, 1, 1, 2);
        rank = new RankResources(new Incarnation(1, 0, 0), 0, run.context(plan, transport,
                new WarmUpGroups(plan.ranks()), Optional.empty(), SmallRun::reference, RankResources.NOTHING, home));
        rank.listen(this);
        stage = rank.open(1);
        rank.outbox().begin(PASS.number());
    }

    @AfterEach
    void close() {
        rank.letGo();
        rank.close(System.nanoTime() + TimeUnit.SECONDS.toNanos(10));
        run.close();
    }

    @Override
    public void moved(RankEvent event) {
        events.add(event);
    }

    @Override
    public void epochBegun(int epoch) {
        events.add(epoch);
    }

    @Override
    public void transportFailed(TransportFault fault) {
        events.add(fault);
    }

    @Override
    public void breakDown(RuntimeException failure) {
        events.add(failure);
    }

    private MessageId id(int microbatch) {
        return new MessageId(0, PASS.number(), FORTH, microbatch);
    }

    private void land(int microbatch, int rows) {
        transport.listener.onLanded(id(microbatch), transport.granted.remove(), rows);
    }

    private void compute(String action) {
        stage.run(new ActionRequest(Action.parse(action), List.of(), PASS, Optional.empty()));
    }

    @Test
    void shouldFileALandedTensorForItsReceiveAndReportIt() {
        assertEquals(2, transport.granted.size(), "two credits");
        land(0, 4);
        assertEquals(List.of(new RankEvent.Landed(RECEIVE, PASS.number())), events);
        compute("1F0");
        assertEquals(2, transport.granted.size(), "the credit of the message that was used goes back");
    }

    @Test
    void shouldGrantTheBufferOfAMessageThatCameBeforeAgain() {
        land(0, 4);
        Tensor second = transport.granted.peek();
        land(0, 4);
        assertEquals(1, events.size());
        assertSame(second, transport.granted.peek());
    }

    @Test
    void shouldReportAMessageThatThePlanDoesNotHaveAsLost() {
        land(4, 4);
        var lost = assertInstanceOf(TransportFault.MessageFault.class, events.getFirst());
        assertEquals(DropReason.BAD_FIELD, lost.reason());
        assertEquals("the message of epoch 0, pass 6, microbatch 4, rank 0 -> rank 1, stage 1, ACTIVATION was dropped:"
                + " the plan has no such message", lost.sentence());
        assertEquals(1, events.size());
        assertEquals(2, transport.granted.size(), "its buffer is granted again");
    }

    @Test
    void shouldFailTheActionThatTakesAMessageOfAnotherLength() {
        land(0, 3);
        assertEquals(1, events.size(), "the transport's thread does not know the length");
        String found = assertThrows(IllegalStateException.class, () -> compute("1F0")).getMessage();
        assertEquals("the tensor of 1RECV_F0 has 3 rows, but must have 4", found);
    }

    @Test
    void shouldSendTheGradientUnderTheKeyOfItsReceiver() {
        land(0, 4);
        compute("1F0");
        stage.run(new ActionRequest(Action.parse("1B0"), List.of(Action.parse("1SEND_B0")), PASS, Optional.empty()));
        assertEquals(List.of(new MessageId(0, PASS.number(),
                new MessageKey(new Edge(1, 0, 0, MessageKind.GRADIENT), 0))), List.copyOf(transport.sent));
    }

    @Test
    void shouldReportAnEpochOnceAndReleaseARetiredRankInTheNext() {
        transport.listener.onEpoch(0);
        assertEquals(List.of(), events, "the epoch in which it was started");
        transport.listener.onEpoch(1);
        transport.listener.onEpoch(1);
        assertEquals(List.of(1), events);
        rank.outbox().retire();
        assertFalse(rank.outbox().isReleased(), "the transport still has its buffers");
        transport.listener.onEpoch(2);
        assertTrue(rank.outbox().isReleased());
    }

    @Test
    void shouldRetireTheOutboxWithTheTransport() {
        TransportFault end = new TransportFault.TransportEnded("the transport thread ended by an error");
        transport.listener.onFault(end);
        assertEquals(List.of(end), events);
        assertTrue(rank.outbox().isRetired());
        int granted = transport.granted.size();
        transport.listener.onReturned(FORTH, transport.granted.peek());
        assertEquals(granted, transport.granted.size(), "a returned buffer remains with the rank");
    }
}
