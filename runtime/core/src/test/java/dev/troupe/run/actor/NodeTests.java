package dev.troupe.run.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.rank.NodeContext;
import dev.troupe.rank.group.NodeGroups;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.run.setup.Neighbours;
import dev.troupe.run.setup.RunPosition;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import dev.troupe.transport.Transport;
import dev.troupe.weights.WeightSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A node of two ranks, with a coordinator that the test plays. */
abstract class NodeTests {
    static final int TERM = 1;
    static final Duration PATIENCE = Duration.ofSeconds(30);
    static final ParallelLayout RANKS = new ParallelLayout(2, 1, 1);
    static final Pass FIRST = new Pass(0, Pass.Kind.TRAINING);

    @TempDir
    Path home;
    final ActorTestKit kit = ActorTestKit.create(ConfigFactory.load("troupe-actors"));
    final TestProbe<TrainingCoordinator.Command> coordinator = kit
            .createTestProbe(TrainingCoordinator.Command.class);
    final SmallRun run = new SmallRun();
    final List<RunOutcome> outcomes = new CopyOnWriteArrayList<>();
    ActorRef<NodeActor.Command> node;
    /** Ends the process; empty as for a run in one process. */
    Optional<Consumer<String>> lost = Optional.empty();
    /** The rows by which messages between ranks are announced too short. */
    int missingRows;
    final CountDownLatch released = new CountDownLatch(1);
    // The node of each rank at first.
    String host = "only";

    @AfterEach
    void shutDown() {
        kit.shutdownTestKit();
        run.close();
    }

    List<RunEvent.PassDone> trainStep(List<ActorRef<ScheduleActor.Command>> ranks, long step) {
        ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(TERM, new Pass(step, Pass.Kind.TRAINING))));
        List<RunEvent.PassDone> done = List.of(next(RunEvent.PassDone.class),
                next(RunEvent.PassDone.class));
        ranks.forEach(
                rank -> rank
                        .tell(new ScheduleActor.ApplyUpdate(TERM, new WeightUpdate(step, 0.1, 1, step + 1, false))));
        next(RunEvent.Updated.class);
        next(RunEvent.Updated.class);
        return done;
    }

    /** Spawns a node with two ranks and waits until both have their weights; each announces itself before that. */
    List<ActorRef<ScheduleActor.Command>> host(Supplier<CheckedEngine> open, WeightSource weights) {
        spawn(open, weights);
        return awaitReady();
    }

    List<ActorRef<ScheduleActor.Command>> awaitReady() {
        Map<Integer, ActorRef<ScheduleActor.Command>> hosted = new TreeMap<>();
        int ready = 0;
        while (ready < 2) {
            switch (coordinator.receiveMessage(PATIENCE)) {
                case TrainingCoordinator.RankHosted(var rank, var schedule) -> hosted.put(rank.rank(), schedule);
                case TrainingCoordinator.Happened(RunEvent.EpochReady(Incarnation(int rank, int _, int _), int _, long _, var _)) -> {
                    assertTrue(hosted.containsKey(rank), "rank " + rank + " is ready before it is there");
                    ready++;
                }
                case TrainingCoordinator.NodeJoined again when again.node().equals(node) -> {
                    // It asks again until it has an answer.
                }
                case TrainingCoordinator.Command other -> throw new AssertionError("did not expect " + other);
            }
        }
        return List.copyOf(hosted.values());
    }

    void spawn(Supplier<CheckedEngine> open, WeightSource weights) {
        TrainingPlan plan = TrainingPlan.of(SmallRun.MODEL, new StageSettings(1, 4, 2, new Optimizer.Sgd(0)), "uniform",
                Schedules.named("1f1b"), RANKS, false, Zero.NONE, 1, 1, 2);
        Transport transport = new HandOver(missingRows);
        Snapshots snapshots = new Snapshots(false);
        NodeGroups groups = NodeGroups.ofOneNode(RANKS, Duration.ofSeconds(30));
        NodeContext context = run.context(plan, transport, groups, Optional.of(snapshots), open, weights, home);
        spawn(transport, _ -> context, () -> {
            groups.close();
            snapshots.close();
            released.countDown();
        });
    }

    void spawn(Transport transport, Function<Path, NodeContext> context, Runnable release) {
        NodeSetup setup = new NodeSetup("only", Map.of(), Duration.ofSeconds(30), 1, Neighbours.none(),
                () -> WarmUpReport.NOTHING_TO_RUN, context, transport,
                release, new NodeSetup.Reports(new RunPosition(), outcomes::add, lost));
        node = kit.spawn(NodeActor.create(setup, coordinator.ref()));
        coordinator.expectMessage(new TrainingCoordinator.NodeJoined(node, "only", Map.of(), 0, 0, Optional.empty(),
                WarmUpReport.IN_PROGRESS));
        node.tell(new NodeActor.HostRanks(TERM,
                new NodeEvent.HostRanks(0, List.of(host, host), Map.of(), home.toString()), coordinator.ref()));
    }

    void order(NodeEvent.Order order) {
        node.tell(new NodeActor.Happened(new NodeEvent.Ordered(TERM, order)));
    }

    <T extends RunEvent> T next(Class<T> kind) {
        while (true) {
            TrainingCoordinator.Command told = coordinator.receiveMessage(PATIENCE);
            if (told instanceof TrainingCoordinator.StepTimed(var rank, long step, var times)) {
                times.forEach(time -> assertTrue(time.forward() > 0, rank + " computed nothing in step " + step));
            } else if (told instanceof TrainingCoordinator.StepTraced(var rank, long _, var times)) {
                assertEquals(rank.rank(), times.rank());
                assertTrue(LongStream.of(times.ends()).anyMatch(end -> end > 0), rank + " did nothing");
            } else if (told instanceof TrainingCoordinator.StepDigested(var rank, long _, var bits)) {
                assertEquals(rank.rank(), bits.rank());
            } else if (!(told instanceof TrainingCoordinator.NodeJoined again && again.node().equals(node))) {
                return kind.cast(assertInstanceOf(TrainingCoordinator.Happened.class, told).event());
            }
        }
    }

    RunEvent.RankFailed failure() {
        while (true) {
            if (coordinator.receiveMessage(
                    PATIENCE) instanceof TrainingCoordinator.Happened(RunEvent.RankFailed failed)) {
                return failed;
            }
        }
    }

    static void fail(RuntimeException failure) {
        throw failure;
    }

    static void fail(Error failure) {
        throw failure;
    }

    static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
