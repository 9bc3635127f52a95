package dev.troupe.run.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.CollectiveException;
import dev.troupe.engine.provider.LostDeviceException;
import dev.troupe.model.InitialWeights;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.error.InjectedFault;
import dev.troupe.plan.error.Reason;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RowPosition;
import dev.troupe.protocol.Strike;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointWay;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Real ranks and stages of a small model on two ranks; the coordinator is a probe, and one kernel may be the test's. */
@Tag("actor")
class NodeActorTest extends NodeTests {
    private static final String LOST = "rank 1: stage 1 failed in 1F0 in step 0: LostDeviceException: the GPU fell off the bus";

    @Test
    void shouldTrainAStepAndWriteACheckpoint() {
        List<ActorRef<ScheduleActor.Command>> ranks = host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1));
        List<RunEvent.PassDone> done = trainStep(ranks, 0);
        assertEquals(2, done.stream().mapToInt(pass -> pass.losses().size()).sum(), "a loss for each microbatch");
        assertEquals(SmallRun.MODEL.blockCount() + 2, done.stream().mapToInt(pass -> pass.squaredSums().size()).sum());

        ranks.forEach(rank -> rank.tell(new ScheduleActor.WriteCheckpoint(TERM, 1)));
        for (int answer = 0; answer < 2; answer++) {
            String file = next(RunEvent.CheckpointPartWritten.class).part().file();
            assertTrue(Files.exists(home.resolve("checkpoints/step-000001.partial").resolve(file)), file);
        }
    }

    @Test
    void shouldObeyOnlyTheCoordinatorOfItsRanks() {
        List<ActorRef<ScheduleActor.Command>> ranks = host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1));
        ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(TERM + 1, FIRST)));
        assertEquals(2, trainStep(ranks, 0).stream().mapToInt(pass -> pass.losses().size()).sum());
    }

    @Test
    void shouldWriteTheSameFilesDuringTrainingAsItsRanksWould() {
        List<ActorRef<ScheduleActor.Command>> ranks = host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1));
        trainStep(ranks, 0);
        ranks.forEach(rank -> rank.tell(new ScheduleActor.WriteCheckpoint(TERM, 1)));
        Set<String> byRanks = Set.of(next(RunEvent.CheckpointPartWritten.class).part().sha256(),
                next(RunEvent.CheckpointPartWritten.class).part().sha256());
        CheckpointAttempt attempt = new CheckpointAttempt(1, 0, CheckpointWay.DURING_TRAINING);
        order(new NodeEvent.WriteParts(attempt, List.of(0, 1)));
        Set<String> written = new HashSet<>();
        while (written.size() < 2) {
            var answer = coordinator.expectMessageClass(TrainingCoordinator.CheckpointHappened.class, PATIENCE);
            switch (answer.event()) {
                case CheckpointEvent.Moving _ -> {
                }
                case CheckpointEvent.Pinned pinned ->
                    assertTrue(written.isEmpty(), pinned + " after a part was written");
                default -> written.add(((CheckpointEvent.PartWritten) answer.event()).part().sha256());
            }
        }
        assertEquals(byRanks, written);
    }

    @Test
    void shouldReportASnapshotThatIsMissingForACheckpoint() {
        host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1));
        order(new NodeEvent.WriteParts(new CheckpointAttempt(7, 0, CheckpointWay.DURING_TRAINING), List.of(1)));
        coordinator.expectMessage(PATIENCE, new TrainingCoordinator.CheckpointHappened(new CheckpointEvent.PartFailed(
                new CheckpointAttempt(7, 0, CheckpointWay.DURING_TRAINING), 1,
                "rank 1 has no snapshot after 7 steps")));
    }

    @Test
    void shouldFreeAllMemoryWhenItStops() {
        host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1));
        assertTrue(run.allocatedBytes() > 0);
        kit.stop(node, PATIENCE);
        assertEquals(2, run.enginesOpened(), "a node with ranks warms up none");
        assertEquals(0, run.allocatedBytes());
    }

    @Test
    void shouldRehearseWithoutRanksUntilItGetsSome() {
        CountDownLatch warmingUp = new CountDownLatch(1);
        List<Long> bytesBefore = new CopyOnWriteArrayList<>();
        host = "another";
        spawn(() -> {
            if (Thread.currentThread().getName().equals("warm-up")) {
                return SmallRun.with("squaredSum", warmingUp::countDown);
            }
            bytesBefore.add(run.allocatedBytes());
            return SmallRun.reference();
        }, new InitialWeights(SmallRun.MODEL, 1));
        await(warmingUp);
        order(new NodeEvent.EnterEpoch(1, List.of(0, 1), 0, List.of("only", "only"), Map.of("only", 1)));
        awaitReady();
        assertEquals(0, bytesBefore.getFirst());
        kit.stop(node, PATIENCE);
        assertEquals(0, run.allocatedBytes());
    }

    @Test
    void shouldFreeTheMemoryOfItsRehearsalWhenItStops() {
        CountDownLatch warmingUp = new CountDownLatch(1);
        host = "another";
        spawn(() -> SmallRun.with("squaredSum", warmingUp::countDown), new InitialWeights(SmallRun.MODEL, 1));
        await(warmingUp);
        kit.stop(node, PATIENCE);
        assertEquals(0, run.allocatedBytes());
    }

    @Test
    void shouldReportStageActionAndStepOfAFailure() {
        List<ActorRef<ScheduleActor.Command>> ranks = host(
                () -> SmallRun.with("crossEntropyBoth", () -> fail(new IllegalStateException("device lost"))),
                new InitialWeights(SmallRun.MODEL, 1));
        ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(TERM, new Pass(6, Pass.Kind.TRAINING))));
        assertEquals(new RunEvent.RankFailed(new Incarnation(1, 0, 1),
                "rank 1: stage 1 failed in 1F0 in step 6: IllegalStateException: device lost",
                Optional.of(new Strike("stage 1 in 1F0 in step 6", "IllegalStateException: device lost"))), failure());
    }

    /** The rank starts again, and the message is sent again, as after any failure of an action. */
    @Test
    void shouldFailTheActionThatTakesAMessageOfAnotherLength() {
        missingRows = 1;
        host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1))
                .forEach(rank -> rank.tell(new ScheduleActor.StartPass(TERM, FIRST)));
        String error = "IllegalStateException: the tensor of 1RECV_F0 has 3 rows, but must have 4";
        assertEquals(
                new RunEvent.RankFailed(new Incarnation(1, 0, 1), "rank 1: stage 1 failed in 1F0 in step 0: " + error,
                        Optional.of(new Strike("stage 1 in 1F0 in step 0", error))),
                failure());
    }

    @Test
    void shouldReportAnErrorOfAStageAsAnyOtherFailure() {
        for (Error error : List.of(new OutOfMemoryError("no room"), new StackOverflowError())) {
            List<ActorRef<ScheduleActor.Command>> ranks = host(
                    () -> SmallRun.with("crossEntropyBoth", () -> fail(error)),
                    new InitialWeights(SmallRun.MODEL, 1));
            ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(TERM, FIRST)));
            assertTrue(failure().reason().startsWith(
                    "rank 1: stage 1 failed in 1F0 in step 0: " + error.getClass().getSimpleName()));
            kit.stop(node, PATIENCE);
        }
    }

    @Test
    void shouldReportAStageThatCannotLoadItsWeights() {
        WeightSource broken = (name, _, _, _) -> {
            throw new WeightException("model.safetensors has no tensor " + name);
        };
        spawn(SmallRun::reference, broken);
        String reason = failure().reason();
        assertTrue(reason.matches("rank \\d: stage \\d failed loading its weights: model.safetensors has no tensor .*"),
                reason);
    }

    @Test
    void shouldReportAnEngineThatCannotBeOpened() {
        spawn(() -> {
            throw new UnsatisfiedLinkError("no jnind4jcpu in java.library.path");
        }, new InitialWeights(SmallRun.MODEL, 1));
        assertEquals(new RunEvent.RankFailed(new Incarnation(0, 0, 1),
                "rank 0: UnsatisfiedLinkError: no jnind4jcpu in java.library.path",
                Optional.of(new Strike("as it was started",
                        "UnsatisfiedLinkError: no jnind4jcpu in java.library.path"))),
                failure());
    }

    /** The rank is not reported: it could not start again on this node. */
    @Test
    void shouldReportTheNodeAsLostIfItsDeviceIs() {
        List<ActorRef<ScheduleActor.Command>> ranks = host(
                () -> SmallRun.with("crossEntropyBoth",
                        () -> fail(new LostDeviceException("the GPU fell off the bus"))),
                new InitialWeights(SmallRun.MODEL, 1));
        ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(TERM, FIRST)));
        assertEquals(new RunEvent.NodeLost("only", LOST), failureOrLoss());
        kit.stop(node, PATIENCE);
        assertEquals(0, run.allocatedBytes());
    }

    @Test
    void shouldEndItsProcessIfItsDeviceIsLost() throws InterruptedException {
        BlockingQueue<String> ended = new LinkedBlockingQueue<>();
        lost = Optional.of(ended::add);
        List<ActorRef<ScheduleActor.Command>> ranks = host(() -> SmallRun.with("crossEntropyBoth", () -> {
            throw new IllegalStateException("a copy failed", new LostDeviceException("the GPU fell off the bus"));
        }), new InitialWeights(SmallRun.MODEL, 1));
        ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(TERM, FIRST)));
        assertEquals(
                "rank 1: stage 1 failed in 1F0 in step 0: IllegalStateException: a copy failed (LostDeviceException: the"
                        + " GPU fell off the bus)",
                ended.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS));
    }

    @Test
    void shouldReportTheNodeAsLostIfNoEngineOpensOnItsDevice() {
        spawn(() -> {
            throw new LostDeviceException("the GPU fell off the bus");
        }, new InitialWeights(SmallRun.MODEL, 1));
        assertEquals(new RunEvent.NodeLost("only", "rank 0: LostDeviceException: the GPU fell off the bus"),
                failureOrLoss());
    }

    /** The first event of a failure, of a rank or of the node. */
    private RunEvent failureOrLoss() {
        while (true) {
            if (coordinator.receiveMessage(PATIENCE) instanceof TrainingCoordinator.Happened(RunEvent event)
                    && (event instanceof RunEvent.NodeLost || event instanceof RunEvent.RankFailed)) {
                return event;
            }
        }
    }

    @Test
    void shouldReportThatItCannotHostItsRanks() {
        spawn(new HandOver(), _ -> {
            throw new UsageException("the run's directory is not there");
        }, () -> {
        });
        assertEquals(new RunEvent.NodeLost("only", "node only: the run's directory is not there"),
                next(RunEvent.NodeLost.class));
    }

    @Test
    void shouldEndSilentlyWithTheCoordinatorOfItsJvm() {
        host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1));
        coordinator.stop();
        kit.createTestProbe().expectTerminated(node, PATIENCE);
        assertEquals(List.of(), outcomes);
    }

    @Test
    void shouldAnswerWhileItsStageComputes() throws InterruptedException {
        CountDownLatch computing = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        List<ActorRef<ScheduleActor.Command>> ranks = host(() -> SmallRun.with("embedding", () -> {
            computing.countDown();
            await(mayGoOn);
        }), new InitialWeights(SmallRun.MODEL, 1));
        ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(TERM, FIRST)));
        assertTrue(computing.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));

        ranks.getFirst().tell(new ScheduleActor.ReportStatus(coordinator.ref(), 0));
        var status = coordinator.expectMessageClass(TrainingCoordinator.StatusReported.class, PATIENCE).status();
        assertEquals("computing 0F0 in step 0", status.situation());
        assertTrue(status.isWorking());
        assertEquals(Optional.of(new RowPosition(Pass.Kind.TRAINING, 0)), status.position());
        assertEquals(List.of(), status.stack(), "not before it is asked again");
        ranks.getFirst().tell(new ScheduleActor.ReportStatus(coordinator.ref(), 0));
        var stays = coordinator.expectMessageClass(TrainingCoordinator.StatusReported.class, PATIENCE).status();
        assertTrue(stays.stack().stream().anyMatch(call -> call.contains("StageWorker")), stays.stack()::toString);
        ranks.getLast().tell(new ScheduleActor.ReportStatus(coordinator.ref(), 0));
        var other = coordinator.expectMessageClass(TrainingCoordinator.StatusReported.class, PATIENCE).status();
        assertEquals("waiting for 1RECV_F0 in step 0", other.situation());
        assertFalse(other.isWorking());
        mayGoOn.countDown();
        next(RunEvent.PassDone.class);
        next(RunEvent.PassDone.class);
    }

    @Test
    void shouldFailWithASentenceIfAnOrderDoesNotFitThePhase() {
        ActorRef<ScheduleActor.Command> rank = host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1))
                .getFirst();
        rank.tell(new ScheduleActor.ApplyUpdate(TERM, new WeightUpdate(0, 0.1, 1, 1, false)));
        assertEquals("rank 0: IllegalStateException: rank 0 cannot take a weight update"
                + " while it is waiting for the coordinator to start a step", failure().reason());
    }

    /** Another attempt may succeed if the failure was injected, or follows from another rank's. */
    @Test
    void shouldNotCountAnInjectedFaultAsAnErrorThatMayStrikeAgain() {
        for (Throwable made : List.of(new InjectedFault("injected: exception"), new OutOfMemoryError("injected: oom"),
                new IllegalStateException("on the way",
                        new CollectiveException("rank 1 has left", OptionalInt.of(1), null)))) {
            assertEquals(Optional.empty(), Reason.strike("stage 0 in 0F0 in step 0", made));
        }
        assertEquals(Optional.of(new Strike("stage 0 in 0F0 in step 0", "ArithmeticException: / by zero")),
                Reason.strike("stage 0 in 0F0 in step 0",
                        new IllegalStateException("outer", new ArithmeticException("/ by zero"))));
    }
}
