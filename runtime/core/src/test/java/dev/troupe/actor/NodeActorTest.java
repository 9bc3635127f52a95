package dev.troupe.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.node.NodeGroups;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.engine.Engine;
import dev.troupe.fault.InjectedFault;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RowPosition;
import dev.troupe.protocol.Strike;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.model.InitialWeights;
import dev.troupe.observe.RunOutcome;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.UsageException;
import dev.troupe.prepare.Reason;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.snapshot.Snapshots;
import dev.troupe.stage.StageSettings;
import dev.troupe.transport.Transport;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real ranks and stages of a small model on two ranks; the coordinator is a probe, and one kernel may be the test's. */
@Tag("actor")
class NodeActorTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final ParallelLayout RANKS = new ParallelLayout(2, 1, 1);
    private static final Pass FIRST = new Pass(0, Pass.Kind.TRAINING);

    @TempDir
    private Path home;
    private final ActorTestKit kit = ActorTestKit.create(ConfigFactory.load("troupe-actors"));
    private final TestProbe<TrainingCoordinator.Command> coordinator = kit
            .createTestProbe(TrainingCoordinator.Command.class);
    private final SmallRun run = new SmallRun();
    private final List<RunOutcome> outcomes = new CopyOnWriteArrayList<>();
    private ActorRef<NodeActor.Command> node;
    private final CountDownLatch released = new CountDownLatch(1);
    // Who has the ranks at first.
    private String host = "only";

    @AfterEach
    void shutDown() {
        kit.shutdownTestKit();
        run.close();
    }

    @Test
    void shouldTrainAStepAndWriteACheckpoint() {
        List<ActorRef<ScheduleActor.Command>> ranks = host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1));
        List<RunEvent.PassDone> done = trainStep(ranks, 0);
        assertEquals(2, done.stream().mapToInt(pass -> pass.losses().size()).sum(), "a loss for each microbatch");
        assertEquals(SmallRun.MODEL.blockCount() + 2, done.stream().mapToInt(pass -> pass.squaredSums().size()).sum());

        ranks.forEach(rank -> rank.tell(new ScheduleActor.WriteCheckpoint(1)));
        for (int answer = 0; answer < 2; answer++) {
            String file = next(RunEvent.CheckpointPartWritten.class).part().file();
            assertTrue(Files.exists(home.resolve("checkpoints/step-000001.partial").resolve(file)), file);
        }
    }

    @Test
    void shouldWriteBesideTrainingWhatItsRanksWouldWrite() {
        List<ActorRef<ScheduleActor.Command>> ranks = host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1));
        trainStep(ranks, 0);
        ranks.forEach(rank -> rank.tell(new ScheduleActor.WriteCheckpoint(1)));
        Set<String> byRanks = Set.of(next(RunEvent.CheckpointPartWritten.class).part().sha256(),
                next(RunEvent.CheckpointPartWritten.class).part().sha256());
        CheckpointAttempt attempt = new CheckpointAttempt(1, 0);
        node.tell(new NodeActor.WriteParts(attempt, List.of(0, 1)));
        Set<String> beside = new HashSet<>();
        while (beside.size() < 2) {
            var answer = coordinator.expectMessageClass(TrainingCoordinator.CheckpointHappened.class, PATIENCE);
            if (!(answer.event() instanceof CheckpointEvent.Moving)) {
                beside.add(((CheckpointEvent.PartWritten) answer.event()).part().sha256());
            }
        }
        assertEquals(byRanks, beside);
    }

    @Test
    void shouldSayThatWhatIsToBeWrittenIsNotKept() {
        host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1));
        node.tell(new NodeActor.WriteParts(new CheckpointAttempt(7, 0), List.of(1)));
        coordinator.expectMessage(PATIENCE, new TrainingCoordinator.CheckpointHappened(new CheckpointEvent.PartFailed(
                new CheckpointAttempt(7, 0), 1, "what rank 1 kept after 7 steps is not there")));
    }

    @Test
    void shouldFreeAllMemoryWhenItStops() {
        host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1));
        assertTrue(run.allocatedBytes() > 0);
        kit.stop(node, PATIENCE);
        assertEquals(2, run.enginesOpened(), "who has ranks warms up none");
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
        node.tell(new NodeActor.EnterEpoch(1, List.of(0, 1), 0, List.of("only", "only"), Map.of("only", 1)));
        awaitReady();
        assertEquals(0, bytesBefore.getFirst());
        kit.stop(node, PATIENCE);
        assertEquals(0, run.allocatedBytes());
    }

    @Test
    void shouldFreeWhatItRehearsesWithWhenItStops() {
        CountDownLatch warmingUp = new CountDownLatch(1);
        host = "another";
        spawn(() -> SmallRun.with("squaredSum", warmingUp::countDown), new InitialWeights(SmallRun.MODEL, 1));
        await(warmingUp);
        kit.stop(node, PATIENCE);
        assertEquals(0, run.allocatedBytes());
    }

    @Test
    void shouldSayWhichStageFailedInWhichActionOfWhichStep() {
        List<ActorRef<ScheduleActor.Command>> ranks = host(
                () -> SmallRun.with("crossEntropy", () -> fail(new IllegalStateException("device lost"))),
                new InitialWeights(SmallRun.MODEL, 1));
        ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(new Pass(6, Pass.Kind.TRAINING))));
        assertEquals(new RunEvent.RankFailed(new Incarnation(1, 0),
                "rank 1: stage 1 failed in 1F0 in step 6: IllegalStateException: device lost",
                Optional.of(new Strike("stage 1 in 1F0 in step 6", "IllegalStateException: device lost"))), failure());
    }

    @Test
    void shouldReportAnErrorOfAStageAsAnyOtherFailure() {
        for (Error error : List.of(new OutOfMemoryError("no room"), new StackOverflowError())) {
            List<ActorRef<ScheduleActor.Command>> ranks = host(() -> SmallRun.with("crossEntropy", () -> fail(error)),
                    new InitialWeights(SmallRun.MODEL, 1));
            ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(FIRST)));
            assertTrue(failure().reason().startsWith(
                    "rank 1: stage 1 failed in 1F0 in step 0: " + error.getClass().getSimpleName()));
            kit.stop(node, PATIENCE);
        }
    }

    @Test
    void shouldSayThatAStageCannotLoadItsWeights() {
        WeightSource broken = (name, _, _, _) -> {
            throw new WeightException("model.safetensors has no tensor " + name);
        };
        spawn(SmallRun::reference, broken);
        String reason = failure().reason();
        assertTrue(reason.matches("rank \\d: stage \\d failed loading its weights: model.safetensors has no tensor .*"),
                reason);
    }

    @Test
    void shouldSayThatAnEngineCannotBeOpened() {
        spawn(() -> {
            throw new UnsatisfiedLinkError("no jnind4jcpu in java.library.path");
        }, new InitialWeights(SmallRun.MODEL, 1));
        assertEquals(new RunEvent.RankFailed(new Incarnation(0, 0),
                "rank 0: UnsatisfiedLinkError: no jnind4jcpu in java.library.path",
                Optional.of(new Strike("as it was started",
                        "UnsatisfiedLinkError: no jnind4jcpu in java.library.path"))),
                failure());
    }

    @Test
    void shouldSayThatItCannotHostWhatItIsToldTo() {
        spawn(new HandOver(), _ -> {
            throw new UsageException("the run's directory is not there");
        }, () -> {
        });
        assertEquals(new TrainingCoordinator.NodeFailed("only", "the run's directory is not there"),
                coordinator.receiveMessage(PATIENCE));
    }

    @Test
    void shouldEndWithoutAWordWhereTheCoordinatorOfItsJvmDoes() {
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
        ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(FIRST)));
        assertTrue(computing.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));

        ranks.getFirst().tell(new ScheduleActor.TellStatus(coordinator.ref()));
        var status = coordinator.expectMessageClass(TrainingCoordinator.StatusTold.class, PATIENCE).status();
        assertEquals("computing 0F0 in step 0", status.situation());
        assertTrue(status.isWorking());
        assertEquals(Optional.of(new RowPosition(Pass.Kind.TRAINING, 0)), status.position());
        assertEquals(List.of(), status.stack(), "not before it is asked again");
        ranks.getFirst().tell(new ScheduleActor.TellStatus(coordinator.ref()));
        var stays = coordinator.expectMessageClass(TrainingCoordinator.StatusTold.class, PATIENCE).status();
        assertTrue(stays.stack().stream().anyMatch(call -> call.contains("StageWorker")), stays.stack()::toString);
        ranks.getLast().tell(new ScheduleActor.TellStatus(coordinator.ref()));
        var other = coordinator.expectMessageClass(TrainingCoordinator.StatusTold.class, PATIENCE).status();
        assertEquals("waiting for 1RECV_F0 in step 0", other.situation());
        assertFalse(other.isWorking());
        mayGoOn.countDown();
        next(RunEvent.PassDone.class);
        next(RunEvent.PassDone.class);
    }

    @Test
    void shouldTrainOnWhileAStageOfTheLastEpochHangs() {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        List<ActorRef<ScheduleActor.Command>> ranks = host(() -> hangingOnce(hanging, mayGoOn),
                new InitialWeights(SmallRun.MODEL, 1));
        ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(FIRST)));
        await(hanging);
        node.tell(new NodeActor.EnterEpoch(1, List.of(0, 1), 0, List.of("only", "only"), Map.of()));
        List<ActorRef<ScheduleActor.Command>> successors = awaitReady();
        successors.forEach(rank -> rank.tell(new ScheduleActor.Resume(1, -1, MessageKeys.NONE)));
        assertEquals(2, trainStep(successors, 0).stream().mapToInt(pass -> pass.losses().size()).sum());
        mayGoOn.countDown();
        kit.stop(node, PATIENCE);
        assertEquals(0, run.allocatedBytes());
    }

    @Test
    @Tag("long")
    void shouldEndWithoutAStageThatHangs() {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        host(() -> hangingOnce(hanging, mayGoOn), new InitialWeights(SmallRun.MODEL, 1))
                .forEach(rank -> rank.tell(new ScheduleActor.StartPass(FIRST)));
        await(hanging);
        node.tell(new NodeActor.Halt());
        await(released);
        assertTrue(run.allocatedBytes() > 0, "the memory of a stage that computes must not be freed under it");
        mayGoOn.countDown();
        kit.createTestProbe().expectTerminated(node, PATIENCE);
    }

    /** An engine whose first embedding of all hangs, whoever interrupts it. */
    private static Engine hangingOnce(CountDownLatch hanging, CountDownLatch mayGoOn) {
        return SmallRun.with("embedding", () -> {
            if (hanging.getCount() > 0) {
                hanging.countDown();
                while (mayGoOn.getCount() > 0) {
                    Thread.onSpinWait();
                }
            }
        });
    }

    @Test
    void shouldFailInWordsWhereARankIsToldWhatItsPhaseDoesNotAllow() {
        ActorRef<ScheduleActor.Command> rank = host(SmallRun::reference, new InitialWeights(SmallRun.MODEL, 1))
                .getFirst();
        rank.tell(new ScheduleActor.ApplyUpdate(new WeightUpdate(0, 0.1, 1, 1, false)));
        assertEquals("rank 0: IllegalStateException: rank 0 cannot take a weight update"
                + " while it is waiting for the coordinator to start a step", failure().reason());
    }

    /** Another attempt is another matter where the failure was made, or follows from another rank's. */
    @Test
    void shouldSayOfNoFaultOnPurposeThatItMayStrikeAgain() {
        for (Throwable made : List.of(new InjectedFault("injected: exception"), new OutOfMemoryError("injected: oom"),
                new IllegalStateException("on the way",
                        new CollectiveException("rank 1 has left", OptionalInt.of(1), null)))) {
            assertEquals(Optional.empty(), Reason.strike("stage 0 in 0F0 in step 0", made));
        }
        assertEquals(Optional.of(new Strike("stage 0 in 0F0 in step 0", "ArithmeticException: / by zero")),
                Reason.strike("stage 0 in 0F0 in step 0",
                        new IllegalStateException("outer", new ArithmeticException("/ by zero"))));
    }

    private List<RunEvent.PassDone> trainStep(List<ActorRef<ScheduleActor.Command>> ranks, long step) {
        ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(new Pass(step, Pass.Kind.TRAINING))));
        List<RunEvent.PassDone> done = List.of(next(RunEvent.PassDone.class),
                next(RunEvent.PassDone.class));
        ranks.forEach(
                rank -> rank.tell(new ScheduleActor.ApplyUpdate(new WeightUpdate(step, 0.1, 1, step + 1, false))));
        next(RunEvent.Updated.class);
        next(RunEvent.Updated.class);
        return done;
    }

    /** Spawns a node with two ranks and waits until both have their weights; each announces itself before that. */
    private List<ActorRef<ScheduleActor.Command>> host(Supplier<Engine> open, WeightSource weights) {
        spawn(open, weights);
        return awaitReady();
    }

    private List<ActorRef<ScheduleActor.Command>> awaitReady() {
        Map<Integer, ActorRef<ScheduleActor.Command>> hosted = new TreeMap<>();
        int ready = 0;
        while (ready < 2) {
            switch (coordinator.receiveMessage(PATIENCE)) {
                case TrainingCoordinator.RankHosted(var rank, var schedule) -> hosted.put(rank.rank(), schedule);
                case TrainingCoordinator.Happened(RunEvent.EpochReady(Incarnation(int rank, int _), int _, long _, var _)) -> {
                    assertTrue(hosted.containsKey(rank), "rank " + rank + " is ready before it is there");
                    ready++;
                }
                case TrainingCoordinator.Command other -> throw new AssertionError("did not expect " + other);
            }
        }
        return List.copyOf(hosted.values());
    }

    private void spawn(Supplier<Engine> open, WeightSource weights) {
        TrainingPlan plan = TrainingPlan.of(SmallRun.MODEL, new StageSettings(1, 4, 2, new Optimizer.Sgd(0)), "uniform",
                Schedules.named("1f1b"), RANKS, false, Zero.NONE, 1, 1, 2);
        Transport transport = new HandOver();
        Snapshots snapshots = new Snapshots(false);
        NodeGroups groups = NodeGroups.ofOneNode(RANKS, Duration.ofSeconds(30));
        NodeContext context = run.context(plan, transport, groups, Optional.of(snapshots), open, weights, home);
        spawn(transport, _ -> context, () -> {
            groups.close();
            snapshots.close();
            released.countDown();
        });
    }

    private void spawn(Transport transport, Function<Path, NodeContext> context, Runnable release) {
        NodeSetup setup = new NodeSetup("only", Map.of(), Duration.ofSeconds(30), Neighbours.none(),
                () -> WarmUpReport.NOTHING_TO_RUN, context, transport,
                release, outcomes::add);
        node = kit.spawn(NodeActor.create(setup, coordinator.ref()));
        coordinator.expectMessage(new TrainingCoordinator.NodeJoined(node, "only", Map.of(), 0, Optional.empty(),
                WarmUpReport.UNDER_WAY));
        node.tell(new NodeActor.HostRanks(0, List.of(host, host), Map.of(), home.toString(), coordinator.ref()));
    }

    private <T extends RunEvent> T next(Class<T> kind) {
        while (true) {
            TrainingCoordinator.Command told = coordinator.receiveMessage(PATIENCE);
            if (told instanceof TrainingCoordinator.StepTimed(var rank, long step, var times)) {
                times.forEach(time -> assertTrue(time.forward() > 0, rank + " computed nothing in step " + step));
            } else {
                return kind.cast(assertInstanceOf(TrainingCoordinator.Happened.class, told).event());
            }
        }
    }

    private RunEvent.RankFailed failure() {
        while (true) {
            if (coordinator.receiveMessage(
                    PATIENCE) instanceof TrainingCoordinator.Happened(RunEvent.RankFailed failed)) {
                return failed;
            }
        }
    }

    private static void fail(RuntimeException failure) {
        throw failure;
    }

    private static void fail(Error failure) {
        throw failure;
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
