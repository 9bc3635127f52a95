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
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.replica.ReplicaTable;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.run.setup.CoordinatorSetup;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes;
import org.apache.pekko.actor.testkit.typed.javadsl.ManualTime;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that come when the run is in progress, or over without their knowledge. Nodes are probes. */
@Tag("actor")
class LateNodesTest {
    private static final ModelSpec MODEL = new Gpt2(2, 4, 1, 4, 8, true, 1e-5).spec();
    private static final TrainingPlan PLAN = TrainingPlan.of(MODEL, new StageSettings(1, 4, 1, new Optimizer.Sgd(0)),
            "uniform", Schedules.named("1f1b"), new ParallelLayout(1, 1, 1), false, Zero.NONE, 1, 1, 2);
    private static final int TERM = 1;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final NodeReport KNOWS_NOTHING = new NodeReport(0, List.of("first"), Map.of(), List.of(), Map.of());

    @TempDir
    private Path home;
    private final ActorTestKit kit = ActorTestKit.create(ManualTime.config());
    private final ManualTime time = ManualTime.get(kit.system());
    private final CompletableFuture<RunOutcome> outcome = new CompletableFuture<>();
    private final TestProbe<NodeActor.Command> first = kit.createTestProbe("first", NodeActor.Command.class);
    private final TestProbe<NodeActor.Command> late = kit.createTestProbe("late", NodeActor.Command.class);
    private final TestProbe<NodeActor.Command> again = kit.createTestProbe("again", NodeActor.Command.class);
    private final TestProbe<NodeActor.Command> stranger = kit.createTestProbe("stranger", NodeActor.Command.class);
    private volatile Set<String> present;
    private ActorRef<TrainingCoordinator.Command> coordinator;

    @AfterEach
    void shutDown() {
        kit.shutdownTestKit();
    }

    @Test
    void shouldNotBeginAgainOverARunUnknownToANode() throws Exception {
        writeCheckpoint();
        begin(Set.of("late"), Set.of());
        join(late, "late", Optional.of(KNOWS_NOTHING));
        assertEquals(
                "the node of the coordinator ended, and nodes [late] have no copies of the last snapshots of its ranks",
                outcome.get(10, TimeUnit.SECONDS).failure().orElseThrow());
    }

    @Test
    void shouldContinueDespiteACheckpointThatWasSkipped() {
        writeCheckpoint();
        begin(Set.of("late"), Set.of(3L));
        join(late, "late", Optional.of(KNOWS_NOTHING));
        assertEquals(List.of("late"), late.expectMessageClass(NodeActor.HostRanks.class).order().hosts());
        assertFalse(outcome.isDone());
    }

    @Test
    void shouldKeepALateNodeThatIsTakenForDeadAndLives() {
        beginWithAStandby();
        // Of another, since only an end that Pekko reports ends the watch of a node.
        coordinator.tell(new TrainingCoordinator.NodeEnded("late", stranger.ref(), false));
        time.timePasses(Duration.ofMillis(600));
        requireKept();
    }

    private void requireKept() {
        join(again, "late", Optional.empty());
        String refusal = assertInstanceOf(NodeEvent.Refused.class,
                again.expectMessageClass(NodeActor.Happened.class).event()).why();
        assertTrue(refusal.contains("a node of that name has joined already"), refusal);
    }

    @Test
    void shouldAdmitANodeThatKnowsTheCoordinator() {
        beginWithAStandby();
        present = Set.of("first");
        late.stop();
        again.awaitAssert(() -> {
            time.timePasses(Duration.ofSeconds(1));
            ask(again, "late", Map.of(), TERM - 1, Optional.empty());
            again.expectMessage(new NodeActor.Happened(new NodeEvent.Ordered(TERM, new NodeEvent.Follow())));
            return null;
        });
        join(again, "late", Optional.empty());
        again.expectMessageClass(NodeActor.HostRanks.class);
    }

    @Test
    void shouldContinueAboveTheEpochThatALateNodeReports() {
        begin(Set.of("first", "late"), Set.of());
        join(first, "first", Optional.empty());
        first.expectMessageClass(NodeActor.HostRanks.class);
        join(late, "late", Optional.of(new NodeReport(7, List.of("late"), Map.of(), List.of(), Map.of())));
        late.expectMessageClass(NodeActor.HostRanks.class);
        NodeActor.Happened enters = new NodeActor.Happened(new NodeEvent.Ordered(TERM,
                new NodeEvent.EnterEpoch(8, List.of(0), 0, List.of("first"), Map.of())));
        late.expectMessage(enters);
        first.fishForMessage(TIMEOUT, told -> told.equals(enters)
                ? FishingOutcomes.complete()
                : FishingOutcomes.continueAndIgnore());
    }

    /** A node of another version can read a refusal, and perhaps no order. */
    @Test
    void shouldRefuseANodeThatDoesNotKnowTheCoordinatorYet() {
        begin(Set.of("first", "late"), Set.of());
        ask(late, "late", Map.of("version", "another"), 0, Optional.empty());
        String refusal = assertInstanceOf(NodeEvent.Refused.class,
                late.expectMessageClass(NodeActor.Happened.class).event()).why();
        assertTrue(refusal.contains("it has version = another"), refusal);
    }

    @Test
    void shouldForgetANodeThatEndsAndIsNoMember() {
        beginWithAStandby();
        present = Set.of("first");
        late.stop();
        requireForgotten();
    }

    @Test
    void shouldForgetANodeThatIsDeadStillWhenLookedAtAgain() {
        beginWithAStandby();
        stranger.stop();
        coordinator.tell(new TrainingCoordinator.NodeEnded("late", stranger.ref(), false));
        requireForgotten();
    }

    private void requireForgotten() {
        again.awaitAssert(() -> {
            time.timePasses(Duration.ofSeconds(1));
            join(again, "late", Optional.empty());
            return again.expectMessageClass(NodeActor.HostRanks.class);
        });
    }

    @Test
    void shouldRepeatALostOrderToHostRanks() {
        beginWithAStandby();
        join(late, "late", Optional.empty());
        late.expectMessageClass(NodeActor.HostRanks.class);
    }

    private void beginWithAStandby() {
        begin(Set.of("first", "late"), Set.of());
        join(first, "first", Optional.empty());
        first.expectMessageClass(NodeActor.HostRanks.class);
        join(late, "late", Optional.empty());
        late.expectMessageClass(NodeActor.HostRanks.class);
    }

    private void begin(Set<String> there, Set<Long> found) {
        present = there;
        RunSettings settings = new RunSettings(1, 0, 9, _ -> 0.1, 0, LossScale.none(0), 0, 3, -1, true,
                List.of(List.of(0)), 9);
        Roster roster = new Roster(Map.of("first", List.of(0), "late", List.of()), Map.of(), TIMEOUT,
                ReplicaTable.Buddies.NONE);
        coordinator = kit.spawn(
                TrainingCoordinator.create(new CoordinatorSetup(settings, PLAN, roster, TERM, () -> present,
                        new CoordinatorSetup.Files(home, found, new CheckpointStore(home, MODEL, "", 0, 0),
                                Duration.ZERO),
                        new CoordinatorSetup.Patience(TIMEOUT, Duration.ZERO, () -> 0), Setups.reporting(_ -> {
                        }), outcome)));
    }

    private void join(TestProbe<NodeActor.Command> node, String name, Optional<NodeReport> report) {
        ask(node, name, Map.of(), TERM, report);
    }

    private void ask(TestProbe<NodeActor.Command> node, String name, Map<String, String> keys, int term,
            Optional<NodeReport> report) {
        coordinator.tell(new TrainingCoordinator.NodeJoined(node.ref(), name, keys, 0, term, report,
                WarmUpReport.NOTHING_TO_RUN));
    }

    private void writeCheckpoint() {
        CheckpointStore store = new CheckpointStore(home, MODEL, "", 0, 0);
        store.commit(3, LossScale.none(3), List.of(store.writePart(3, 0, List.of())));
    }
}
