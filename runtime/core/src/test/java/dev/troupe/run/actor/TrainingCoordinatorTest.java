package dev.troupe.run.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.group.ParallelLayout;
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
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.replica.ReplicaTable;
import dev.troupe.protocol.run.LayerSquaredSum;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.watch.RankStatus;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.run.setup.CoordinatorSetup;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.ManualTime;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The coordinator with a node and two ranks that are probes, and a clock that the test moves. */
@Tag("actor")
class TrainingCoordinatorTest {
    private static final ModelSpec MODEL = new Gpt2(2, 4, 1, 4, 8, true, 1e-5).spec();
    private static final TrainingPlan PLAN = TrainingPlan.of(MODEL, new StageSettings(1, 4, 1, new Optimizer.Sgd(0)),
            "uniform", Schedules.named("1f1b"), new ParallelLayout(2, 1, 1), false, Zero.NONE, 1, 1, 2);
    private static final int TERM = 1;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Duration TICK = Duration.ofSeconds(1);
    private static final Pass FIRST = new Pass(0, Pass.Kind.TRAINING);

    @TempDir
    private Path home;
    private final ActorTestKit kit = ActorTestKit.create(ManualTime.config());
    private final ManualTime time = ManualTime.get(kit.system());
    private final AtomicLong nanos = new AtomicLong();
    private final CompletableFuture<RunOutcome> outcome = new CompletableFuture<>();
    private final TestProbe<NodeActor.Command> node = kit.createTestProbe("node-0", NodeActor.Command.class);
    private final List<TestProbe<ScheduleActor.Command>> ranks = List.of(
            kit.createTestProbe(ScheduleActor.Command.class), kit.createTestProbe(ScheduleActor.Command.class));
    private final Diary diary = new Diary();
    private CheckpointStore checkpoints;
    private ActorRef<TrainingCoordinator.Command> coordinator;

    @BeforeEach
    void placeRanks() {
        checkpoints = new CheckpointStore(home, MODEL, "", 0, 0);
        coordinator = kit.spawn(TrainingCoordinator.create(new CoordinatorSetup(
                new RunSettings(2, 0, 5, _ -> 0.1, 0, LossScale.none(0), 0, 2, -1, true,
                        List.of(List.of(0), List.of(1)),
                        0),
                PLAN, new Roster(Map.of("only", List.of(0, 1)), Map.of(), TIMEOUT, ReplicaTable.Buddies.NONE), TERM,
                () -> Set.of("only"),
                new CoordinatorSetup.Files(home, Set.of(), checkpoints, Duration.ZERO),
                new CoordinatorSetup.Patience(TIMEOUT, Duration.ZERO, nanos::get),
                Setups.reporting(diary), outcome)));
        coordinator.tell(join());
        node.expectMessage(new NodeActor.HostRanks(TERM,
                new NodeEvent.HostRanks(0, List.of("only", "only"), Map.of(), home.toString()), coordinator));
        for (int rank = 0; rank < 2; rank++) {
            coordinator.tell(new TrainingCoordinator.RankHosted(new Incarnation(rank, 0, 1), ranks.get(rank).ref()));
            ranks.get(rank).expectMessageClass(ScheduleActor.ReportStatus.class); // its clock is asked for
            happens(new RunEvent.EpochReady(from(rank), 0, -1, List.of()));
        }
        expectAll(new ScheduleActor.StartPass(TERM, FIRST));
    }

    @AfterEach
    void shutDown() {
        kit.shutdownTestKit();
    }

    @Test
    void shouldLeadEveryRankThroughAStep() {
        trainPass(0);
        expectAll(new ScheduleActor.ApplyUpdate(TERM, new WeightUpdate(0, 0.1, 1, 1, false)));
        nanos.set(Duration.ofMillis(1500).toNanos());
        updated(0);
        expectAll(new ScheduleActor.StartPass(TERM, new Pass(1, Pass.Kind.TRAINING)));
        assertEquals(List.of("started", "step 0 in 1.5 s"), diary.lines);
    }

    @Test
    void shouldStopAfterTheCurrentStepWithACheckpoint() throws Exception {
        coordinator.tell(new TrainingCoordinator.Stop(false));
        trainPass(0);
        expectAll(new ScheduleActor.ApplyUpdate(TERM, new WeightUpdate(0, 0.1, 1, 1, false)));
        updated(0);
        expectAll(new ScheduleActor.WriteCheckpoint(TERM, 1));
        for (int rank = 0; rank < 2; rank++) {
            happens(new RunEvent.CheckpointPartWritten(from(rank), checkpoints.writePart(1, rank, List.of())));
        }
        assertEquals(new RunOutcome(1, Optional.empty()), ended());
        assertEquals("checkpoint after 1 steps in step-000001", diary.lines.getLast());
    }

    @Test
    void shouldEndTheRunWhenARankFails() throws Exception {
        happens(new RunEvent.RankFailed(from(1), "rank 1: stage 1 failed in 1F0 in step 0: no room"));
        assertEquals(new RunOutcome(0, Optional.of("rank 1: stage 1 failed in 1F0 in step 0: no room")), ended());
    }

    @Test
    void shouldEndTheRunOnAllNodesWhenOneCannotHost() throws Exception {
        RunOutcome why = new RunOutcome(0, Optional.of("node only: the run's directory is not there"));
        happens(new RunEvent.NodeLost("only", why.failure().get()));
        assertEquals(why, ended());
        node.expectMessage(new NodeActor.Happened(
                new NodeEvent.Ordered(TERM, new NodeEvent.RunEnded(why.stepsDone(), why.failure()))));
    }

    @Test
    void shouldEndTheRunWhenItsNodeEnds() throws Exception {
        node.stop();
        assertTrue(failure().endsWith(" ended before the run did; see its log"), failure());
    }

    @Test
    void shouldEndTheRunWithTheWordsOfAListenerThatFails() throws Exception {
        diary.failure = new UncheckedIOException("cannot write the metrics of a step",
                new IOException("No space left on device"));
        trainPass(0);
        updated(0);
        assertEquals("UncheckedIOException: cannot write the metrics of a step (IOException: No space left on device)",
                failure());
    }

    @Test
    void shouldEndTheRunWithTheSentenceOfACheckpointThatCannotBeWritten() throws Exception {
        coordinator.tell(new TrainingCoordinator.Stop(false));
        trainPass(0);
        updated(0);
        for (int rank = 0; rank < 2; rank++) { // parts that nobody wrote
            happens(new RunEvent.CheckpointPartWritten(from(rank),
                    new CheckpointPart("rank-00" + rank, 1, "00")));
        }
        assertTrue(failure().startsWith("the checkpoint at its end, after 1 steps, could not be written"), failure());
        assertTrue(failure().contains(": cannot write the checkpoint " + home), failure());
    }

    @Test
    void shouldContinueWithoutACheckpointThatARankCannotWrite() {
        trainTwoSteps();
        happens(new RunEvent.CheckpointPartFailed(from(1), "no room"));
        happens(new RunEvent.CheckpointPartWritten(from(0), checkpoints.writePart(2, 0, List.of())));
        expectAll(new ScheduleActor.StartPass(TERM, new Pass(2, Pass.Kind.TRAINING)));
        assertEquals("no checkpoint after 2 steps: no room", diary.lines.getLast());
        assertEquals(0, home.resolve("checkpoints").toFile().list().length, "what was begun is deleted");
    }

    @Test
    void shouldContinueWithoutACheckpointThatCannotBeCommitted() {
        trainTwoSteps();
        for (int rank = 0; rank < 2; rank++) { // parts that nobody wrote
            happens(new RunEvent.CheckpointPartWritten(from(rank),
                    new CheckpointPart("rank-00" + rank, 1, "00")));
        }
        expectAll(new ScheduleActor.StartPass(TERM, new Pass(2, Pass.Kind.TRAINING)));
        String last = diary.lines.getLast();
        assertTrue(last.startsWith("no checkpoint after 2 steps: cannot write the checkpoint " + home), last);
    }

    private void trainTwoSteps() {
        for (long step = 0; step < 2; step++) {
            trainPass(step);
            expectAll(new ScheduleActor.ApplyUpdate(TERM, new WeightUpdate(step, 0.1, 1, step + 1, false)));
            updated(step);
            expectAll(step == 0
                    ? new ScheduleActor.StartPass(TERM, new Pass(1, Pass.Kind.TRAINING))
                    : new ScheduleActor.WriteCheckpoint(TERM, 2));
        }
    }

    @Test
    void shouldEndAStalledRunAndListWhatEachRankWaitsFor() throws Exception {
        for (int tick = 0; tick <= 20; tick++) {
            assertFalse(outcome.isDone(), "ended after " + tick + " seconds");
            pass(TICK);
            answerStatus(0, false, "waiting for 0RECV_B0 in step 0");
            answerStatus(1, false, "waiting for 1RECV_F0 in step 0");
        }
        pass(TICK);
        assertEquals("no rank has moved for 21.0 seconds (transport.timeout is 20.0): rank 0 is waiting for 0RECV_B0 in"
                + " step 0; rank 1 is waiting for 1RECV_F0 in step 0; hang-step-0-epoch-0.txt shows where every rank was",
                failure());
        String drawing = Files.readString(home.resolve("hang-step-0-epoch-0.txt"));
        assertTrue(drawing.contains("rank 1 is waiting for 1RECV_F0 in step 0; it has not moved for 21.0 s"), drawing);
    }

    @Test
    void shouldWaitAsLongAsARankComputes() {
        for (int tick = 0; tick < 30; tick++) {
            pass(TICK);
            answerStatus(0, true, "computing 0F0 in step 0");
            answerStatus(1, false, "waiting for 1RECV_F0 in step 0");
        }
        assertFalse(outcome.isDone());
    }

    /** Answers after the question has come, and waits until the coordinator has taken the answer in. */
    private void answerStatus(int rank, boolean isWorking, String situation) {
        ranks.get(rank).expectMessageClass(ScheduleActor.ReportStatus.class);
        coordinator.tell(new TrainingCoordinator.StatusReported(
                new RankStatus(rank, 3, isWorking, situation, Optional.empty(), List.of()), 0, 0));
        Stranger.awaitItsTurn(kit, coordinator, TERM);
    }

    private TrainingCoordinator.NodeJoined join() {
        return new TrainingCoordinator.NodeJoined(node.ref(), "only", Map.of(), 0, TERM, Optional.empty(),
                WarmUpReport.NOTHING_TO_RUN);
    }

    private static Incarnation from(int rank) {
        return new Incarnation(rank, 0, 1);
    }

    private void pass(Duration duration) {
        nanos.addAndGet(duration.toNanos());
        time.timePasses(duration);
    }

    private void trainPass(long step) {
        Pass pass = new Pass(step, Pass.Kind.TRAINING);
        happens(new RunEvent.PassDone(from(0), pass, List.of(), List.of(new LayerSquaredSum(0, 0, 9))));
        happens(new RunEvent.PassDone(from(1), pass, List.of(new MicrobatchLoss(0, 2)),
                List.of(new LayerSquaredSum(1, 0, 16))));
    }

    private void updated(long step) {
        happens(new RunEvent.Updated(from(0), step, Traffic.NONE));
        happens(new RunEvent.Updated(from(1), step, Traffic.NONE));
    }

    private void happens(RunEvent event) {
        coordinator.tell(new TrainingCoordinator.Happened(event));
    }

    private void expectAll(ScheduleActor.Command command) {
        ranks.forEach(rank -> rank.expectMessage(command));
    }

    private RunOutcome ended() throws Exception {
        return outcome.get(10, TimeUnit.SECONDS);
    }

    private String failure() throws Exception {
        return ended().failure().orElseThrow();
    }

    private static final class Diary implements RunListener {
        private final List<String> lines = new ArrayList<>();
        private volatile RuntimeException failure;

        @Override
        public void on(RunNews news) {
            switch (news) {
                case RunNews.Started _ -> lines.add("started");
                case RunNews.StepDone(StepResult result, double seconds) -> {
                    if (failure != null) {
                        throw failure;
                    }
                    lines.add("step " + result.step() + " in " + seconds + " s");
                }
                case RunNews.Validated _ -> lines.add("validation");
                case RunNews.CheckpointDone(_, long stepsDone, Path directory) ->
                    lines.add("checkpoint after " + stepsDone + " steps in " + directory.getFileName());
                case RunNews.CheckpointFailed(_, long stepsDone, String why) ->
                    lines.add("no checkpoint after " + stepsDone + " steps: " + why);
                default -> {
                    // not in the diary
                }
            }
        }
    }
}
