package dev.troupe.run.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.group.ParallelLayout;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.checkpoint.CheckpointStore;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointWay;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.replica.ReplicaTable;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.run.news.RunNews;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.run.setup.CoordinatorSetup;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes;
import org.apache.pekko.actor.testkit.typed.javadsl.ManualTime;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One rank on one node, a checkpoint due after each four steps of nine; node and rank are probes. */
@Tag("actor")
@Dealt(2)
class CheckpointsTest {
    private static final ModelSpec MODEL = new Gpt2(1, 4, 1, 4, 8, true, 1e-5).spec();
    private static final TrainingPlan PLAN = TrainingPlan.of(MODEL, new StageSettings(1, 4, 1, new Optimizer.Sgd(0)),
            "uniform", Schedules.named("1f1b"), new ParallelLayout(1, 1, 1), false, Zero.NONE, 1, 1, 2);
    private static final int TERM = 1;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Duration TICK = Duration.ofSeconds(1);

    @TempDir
    private Path home;
    private final ActorTestKit kit = ActorTestKit.create(ManualTime.config());
    private final ManualTime time = ManualTime.get(kit.system());
    private final CompletableFuture<RunOutcome> outcome = new CompletableFuture<>();
    private final TestProbe<NodeActor.Command> node = kit.createTestProbe("node-0", NodeActor.Command.class);
    private final TestProbe<ScheduleActor.Command> rank = kit.createTestProbe(ScheduleActor.Command.class);
    private final BlockingQueue<String> reported = new LinkedBlockingQueue<>();
    private CheckpointStore store;
    private ActorRef<TrainingCoordinator.Command> coordinator;

    @BeforeEach
    void begin() {
        store = new CheckpointStore(home, MODEL, "", 0, 0);
        coordinator = kit.spawn(TrainingCoordinator.create(new CoordinatorSetup(
                new RunSettings(1, 0, 9, _ -> 0.1, 0, LossScale.none(0), 0, 4, -1, true, List.of(List.of(0)), 1),
                PLAN, new Roster(Map.of("only", List.of(0)), Map.of(), TIMEOUT, ReplicaTable.Buddies.NONE), TERM,
                () -> Set.of("only"),
                new CoordinatorSetup.Files(home, Set.of(), store, Duration.ZERO),
                new CoordinatorSetup.Patience(TIMEOUT, Duration.ofSeconds(5), new AtomicLong()::get),
                Setups.reporting(this::report), outcome)));
        coordinator.tell(new TrainingCoordinator.NodeJoined(node.ref(), "only", Map.of(), 0, TERM, Optional.empty(),
                WarmUpReport.NOTHING_TO_RUN));
        coordinator.tell(new TrainingCoordinator.RankHosted(from(), rank.ref()));
        rank.expectMessageClass(ScheduleActor.ReportStatus.class); // its clock is asked for
        happens(new RunEvent.EpochReady(from(), 0, -1, List.of()));
    }

    @AfterEach
    void shutDown() {
        kit.shutdownTestKit();
    }

    @Test
    void shouldTrainOnWhileACheckpointIsWritten() throws Exception {
        train(0, 4);
        hold(4);
        train(4, 7); // three steps more than when it was begun
        assertEquals(new NodeEvent.WriteParts(at(4), List.of(0)), nextWriteParts());
        writePart(4);
        expectReported("checkpoint 4");
        assertTrue(Files.exists(home.resolve("checkpoints/step-000004/manifest.json")));
        train(7, 9);
        assertEquals(at(8), nextWriteParts().attempt());
    }

    @Test
    void shouldDelayTheUpdateThatWouldOverwriteTheOnlyCopy() throws Exception {
        train(0, 4);
        train(4, 5);
        assertEquals("step 4", last(5));
        happens(new RunEvent.PassDone(from(), new Pass(5, Pass.Kind.TRAINING), List.of(new MicrobatchLoss(0, 2)),
                List.of()));
        rank.receiveSeveralMessages(2 * 5 + 1); // a pass and an update each, and the pass of step 5
        rank.expectNoMessage();
        hold(4);
        rank.expectMessageClass(ScheduleActor.ApplyUpdate.class);
    }

    @Test
    void shouldWaitWithTheStepAtWhichTheNextIsDue() throws Exception {
        train(0, 4);
        hold(4);
        train(4, 8);
        assertEquals("step 6", last(7));
        writePart(4);
        expectReported("checkpoint 4");
        expectReported("step 7");
        nextWriteParts();
        assertEquals(at(8), nextWriteParts().attempt());
    }

    @Test
    void shouldContinueWithoutACheckpointThatHangs() throws Exception {
        train(0, 4);
        hold(4);
        train(4, 8);
        assertEquals("step 6", last(7));
        for (int tick = 0; tick < 5; tick++) {
            pass();
        }
        assertEquals(List.of(), List.copyOf(reported), "for recovery.hang-timeout it waits");
        pass();
        assertTrue(next().startsWith("no checkpoint 4: it made no progress"));
        expectReported("step 7");
        assertEquals(at(4), nextWriteParts().attempt());
        assertEquals(at(8), nextWriteParts().attempt());
    }

    /** A disk that takes ten times recovery.hang-timeout for a part, and half a gigabyte now and then. */
    @Test
    void shouldWaitForOneAsLongAsItMoves() throws Exception {
        train(0, 4);
        hold(4);
        train(4, 8);
        assertEquals("step 6", last(7));
        for (int tick = 0; tick < 50; tick++) {
            coordinator.tell(new TrainingCoordinator.CheckpointHappened(new CheckpointEvent.Moving(at(4))));
            pass();
        }
        assertEquals(List.of(), List.copyOf(reported));
        for (int tick = 0; tick < 6; tick++) {
            coordinator.tell(new TrainingCoordinator.CheckpointHappened(new CheckpointEvent.Moving(at(3))));
            pass();
        }
        assertTrue(next().startsWith("no checkpoint 4: it made no progress"), "what moves is another");
    }

    @Test
    void shouldWriteTheLastCheckpointWhenTheOneInProgressIsComplete() throws Exception {
        train(0, 4);
        coordinator.tell(new TrainingCoordinator.Stop(false));
        train(4, 5);
        assertEquals("step 4", last(5));
        rank.receiveSeveralMessages(2 * 5); // a pass and an update each
        rank.expectNoMessage();
        writePart(4);
        expectReported("checkpoint 4");
        rank.expectMessage(new ScheduleActor.WriteCheckpoint(TERM, 5));
        happens(new RunEvent.CheckpointPartWritten(from(), store.writePart(5, 0, List.of())));
        expectReported("checkpoint 5");
        assertEquals(new RunOutcome(5, Optional.empty()), outcome.get(10, TimeUnit.SECONDS));
    }

    @Test
    void shouldCompleteTheCheckpointInProgressIfTheRunFails() throws Exception {
        train(0, 5);
        assertEquals("step 4", last(5));
        happens(new RunEvent.RankFailed(from(), "a failure that the run survives"));
        happens(new RunEvent.RankFailed(new Incarnation(0, 1, 1), "the wire came loose"));
        happens(new RunEvent.RankFailed(new Incarnation(0, 1, 1), "again"));
        writePart(4);
        expectReported("checkpoint 4");
        assertTrue(outcome.get(10, TimeUnit.SECONDS).failure().orElseThrow().startsWith("the wire came loose"));
    }

    @Test
    void shouldContinueWithoutACheckpointThatANodeCannotWrite() throws Exception {
        train(0, 4);
        assertEquals("step 3", last(4));
        store.writePart(4, 0, List.of());
        coordinator.tell(new TrainingCoordinator.CheckpointHappened(
                new CheckpointEvent.PartFailed(at(4), 0, "No space left on device")));
        expectReported("no checkpoint 4: No space left on device");
        train(4, 8);
        assertEquals("step 7", last(4));
        assertFalse(Files.exists(home.resolve("checkpoints/step-000004.partial")), "what was begun is deleted");
    }

    /** The node holds the state that the checkpoint needs, so that updates do not wait for it. */
    private void hold(long stepsDone) {
        coordinator.tell(new TrainingCoordinator.CheckpointHappened(
                new CheckpointEvent.Pinned(at(stepsDone), List.of(0))));
    }

    private void writePart(long stepsDone) {
        coordinator.tell(new TrainingCoordinator.CheckpointHappened(
                new CheckpointEvent.PartWritten(at(stepsDone), 0, store.writePart(stepsDone, 0, List.of()))));
    }

    private void train(long from, long to) {
        for (long step = from; step < to; step++) {
            happens(new RunEvent.PassDone(from(), new Pass(step, Pass.Kind.TRAINING),
                    List.of(new MicrobatchLoss(0, 2)), List.of()));
            happens(new RunEvent.Updated(from(), step, Traffic.NONE));
        }
    }

    private static CheckpointAttempt at(long stepsDone) {
        return new CheckpointAttempt(stepsDone, 0, CheckpointWay.DURING_TRAINING);
    }

    private static Incarnation from() {
        return new Incarnation(0, 0, 1);
    }

    private void happens(RunEvent event) {
        coordinator.tell(new TrainingCoordinator.Happened(event));
    }

    private void pass() {
        time.timePasses(TICK);
        rank.fishForMessage(Duration.ofSeconds(10),
                told -> told instanceof ScheduleActor.ReportStatus
                        ? FishingOutcomes.complete()
                        : FishingOutcomes.continueAndIgnore());
        Stranger.awaitItsTurn(kit, coordinator, TERM); // it has set its clock after its question
    }

    private NodeEvent.WriteParts nextWriteParts() {
        while (true) {
            if (node.receiveMessage(Duration
                    .ofSeconds(
                            10)) instanceof NodeActor.Happened(NodeEvent.Ordered(int _, NodeEvent.WriteParts order))) {
                return order;
            }
        }
    }

    private String next() throws InterruptedException {
        return Optional.ofNullable(reported.poll(10, TimeUnit.SECONDS)).orElse("nothing");
    }

    /** The last of a number of commands. */
    private String last(int count) throws InterruptedException {
        String line = "";
        for (int i = 0; i < count; i++) {
            line = next();
        }
        return line;
    }

    private void expectReported(String expected) throws InterruptedException {
        String line = next();
        while (line.startsWith("step") && !line.equals(expected)) {
            line = next();
        }
        assertEquals(expected, line);
    }

    private void report(RunNews news) {
        switch (news) {
            case RunNews.StepDone(StepResult result, _) -> reported.add("step " + result.step());
            case RunNews.CheckpointDone done -> reported.add("checkpoint " + done.stepsDone());
            case RunNews.CheckpointFailed(_, long stepsDone, String why) ->
                reported.add("no checkpoint " + stepsDone + ": " + why);
            default -> {
                // not checked
            }
        }
    }
}
