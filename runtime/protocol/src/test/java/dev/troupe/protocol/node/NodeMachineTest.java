package dev.troupe.protocol.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointWay;
import dev.troupe.protocol.run.RunEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Node b of a run of nodes a and b with two ranks each, which are a tensor-parallel group. */
class NodeMachineTest {
    private static final int TERM = 1;
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final RankGroup FIRST = new RankGroup(2, 0, TERM, List.of(2, 3));
    private static final RankGroup SECOND = new RankGroup(2, 1, TERM, List.of(2, 3));
    private static final String LOST = "the node of the coordinator ended before the run did; see its log";

    private final NodeMachine machine = new NodeMachine("b", PATIENCE, 1);
    private final Map<Integer, List<Long>> kept = new TreeMap<>();

    @Test
    void shouldAskUntilItReceivesItsRanks() {
        assertCommands(new NodeEvent.Begin(), new NodeCommand.Await(PATIENCE), new NodeCommand.StartAsking());
        assertCommands(new NodeEvent.AskDue(), new NodeCommand.Ask(0, Optional.empty(), false));
        assertCommands(new NodeEvent.RunKernels(), new NodeCommand.Await(PATIENCE),
                new NodeCommand.Ask(TERM, Optional.empty(), true));
        assertCommands(new NodeEvent.RunKernels(), new NodeCommand.Await(PATIENCE));
        assertCommands(host("a", "b"), new NodeCommand.StopAsking(), new NodeCommand.Open("runs/one"));
        assertCommands(opened(), new NodeCommand.Reach(0, 4), new NodeCommand.Start(FIRST, 4));
        assertCommands(new NodeEvent.AskDue());
    }

    @Test
    void shouldGiveUpIfItReceivesNoRanks() {
        String why = ((NodeCommand.End) machine.on(new NodeEvent.PatienceOver()).getFirst()).failure().orElseThrow();
        assertTrue(why.startsWith("node b found no cluster to join within 20 seconds"), why);
    }

    @Test
    void shouldEndAtARequestWhileItWaitsAndNotLater() {
        assertCommands(new NodeEvent.StopWaiting(), new NodeCommand.End(0, Optional.empty()));
        hosting();
        assertCommands(new NodeEvent.StopWaiting());
    }

    @Test
    void shouldReportThatItCannotHost() {
        tell(host("a", "b"));
        assertCommands(new NodeEvent.CannotOpen("it is not there"),
                new NodeCommand.Report(new RunEvent.NodeLost("b", "node b: it is not there")));
        assertCommands(enter(1, List.of(2, 3), "a", "b"));
        assertCommands(new NodeEvent.CoordinatorLost(TERM, false), new NodeCommand.End(0, Optional.of(LOST)));
    }

    @Test
    void shouldEndIfTheRunRefusesIt() {
        assertCommands(new NodeEvent.Refused("another version"), new NodeCommand.Refuse("another version"));
    }

    @Test
    void shouldWarmUpUntilItGetsRanks() {
        tell(host("a", "a"));
        assertCommands(
                new NodeEvent.Opened(4, List.of(List.of(0, 1), List.of(2, 3)), Optional.of(this::versions), true),
                new NodeCommand.Reach(0, 4), new NodeCommand.WarmUp());
        assertEquals(List.of(new NodeCommand.EndWarmUp(), new NodeCommand.Start(SECOND, 5)),
                tell(enter(1, List.of(2, 3), "a", "b")).stream()
                        .filter(command -> !(command instanceof NodeCommand.OfLink)
                                && !(command instanceof NodeCommand.BeginEpoch)
                                && !(command instanceof NodeCommand.BreakOffCopies))
                        .toList());
    }

    @Test
    void shouldGiveUpARankBeforeItsSuccessorStarts() {
        hosting();
        assertCommands(enter(1, List.of(2, 3), "a", "b"), new NodeCommand.Reach(1, 5), new NodeCommand.GiveUp(FIRST, 5),
                new NodeCommand.LookLater(), new NodeCommand.BeginEpoch(1, List.of("a", "a", "b", "b"), Map.of()),
                new NodeCommand.Start(SECOND, 5));
    }

    @Test
    void shouldBreakOffCopiesOfANodeThatHasLostRanks() {
        hosting();
        RankGroup moved = new RankGroup(0, 1, TERM, List.of(0, 1));
        assertCommands(enter(1, List.of(0, 1), "b", "b"), new NodeCommand.Reach(1, 5),
                new NodeCommand.BreakOffCopies("a"),
                new NodeCommand.BeginEpoch(1, List.of("b", "b", "b", "b"), Map.of()),
                new NodeCommand.Start(moved, 5));
    }

    @Test
    void shouldDropOrdersOfAnEpochThatIsNotNewer() {
        hosting();
        tell(enter(3, List.of(0, 1), "a", "b"));
        for (int old = 0; old <= 3; old++) {
            assertCommands(enter(old, List.of(0, 1, 2, 3), "b", "a"));
        }
    }

    @Test
    void shouldRefuseToStartARankThatItHasNotGivenUp() {
        HostedGroups groups = new HostedGroups(List.of(List.of(0, 1)));
        groups.start(List.of(0, 1), 0, TERM);
        assertThrows(IllegalStateException.class, () -> groups.start(List.of(0, 1), 1, TERM));
        groups.giveUp(List.of(1));
        assertEquals(List.of(new RankGroup(0, 1, TERM, List.of(0, 1))), groups.start(List.of(0, 1), 1, TERM));
    }

    @Test
    void shouldFreeMemoryOnceItsGroupHasEnded() {
        hosting();
        tell(enter(1, List.of(2, 3), "a", "b"));
        assertCommands(new NodeEvent.LookDue(), new NodeCommand.LookLater());
        assertCommands(new NodeEvent.GroupEnded(FIRST));
        assertCommands(new NodeEvent.LookDue(), new NodeCommand.Free(FIRST), new NodeCommand.LookLater());
        assertCommands(new NodeEvent.MemoryFreed(FIRST));
        assertCommands(new NodeEvent.LookDue());
    }

    @Test
    void shouldReportAFailureOfAGroupAtWorkOnly() {
        hosting();
        RunEvent.RankFailed failure = new RunEvent.RankFailed(new Incarnation(2, 0, TERM), "rank 2: it broke");
        assertCommands(new NodeEvent.GroupFailed(FIRST, failure), new NodeCommand.Report(failure));
        tell(enter(1, List.of(2, 3), "a", "b"));
        assertCommands(new NodeEvent.GroupFailed(FIRST, failure));
    }

    @Test
    void shouldBeAbandonedOnceIfItsDeviceIsLost() {
        assertCommands(new NodeEvent.DeviceLost("too soon"));
        hosting();
        assertCommands(new NodeEvent.DeviceLost("rank 2: it broke"), new NodeCommand.Abandon("rank 2: it broke"));
        assertCommands(new NodeEvent.DeviceLost("rank 3: it broke too"));
    }

    @Test
    void shouldSendCopiesToBuddiesAndReportThoseThatItHas() {
        hosting();
        kept.put(0, List.of(4L, 5L));
        kept.put(1, List.of(4L));
        assertCommands(
                new NodeEvent.KeepCopies(4, List.of("b", "b", "a", "a"), Map.of("a", 7, "b", 8)),
                new NodeCommand.Route(Map.of(2, new NodeCommand.Route.Buddy("a", 7), 3,
                        new NodeCommand.Route.Buddy("a", 7))),
                new NodeCommand.SendCopies(List.of(2, 3), 4),
                new NodeCommand.Report(new RunEvent.Copied(0, "b", 4)),
                new NodeCommand.Report(new RunEvent.Copied(1, "b", 4)),
                new NodeCommand.SendCopies(List.of(2, 3), 5),
                new NodeCommand.Report(new RunEvent.Copied(0, "b", 5)));
        assertCommands(new NodeEvent.CopyArrived(1, 5));
        kept.put(1, List.of(4L, 5L));
        assertCommands(new NodeEvent.CopyArrived(1, 5), new NodeCommand.Report(new RunEvent.Copied(1, "b", 5)));
    }

    @Test
    void shouldForgetSnapshotsThatOtherNodesKeep() {
        hosting();
        assertCommands(commit(6), new NodeCommand.Reach(0, 6));
        tell(new NodeEvent.KeepCopies(6, List.of("", "b", "a", "a"), Map.of()));
        assertCommands(commit(7), new NodeCommand.Reach(0, 7), new NodeCommand.ForgetSnapshots(List.of(0), 6));
    }

    @Test
    void shouldReportToACoordinatorThatTakesOver() {
        hosting();
        for (long steps = 5; steps < 9; steps++) {
            tell(commit(steps));
        }
        kept.put(2, List.of(7L, 8L));
        assertCommands(new NodeEvent.CoordinatorLost(TERM, false),
                new NodeCommand.Log("the node of the coordinator is gone; another is to take over"),
                new NodeCommand.Await(Duration.ofSeconds(60)), new NodeCommand.StartAsking());
        assertCommands(new NodeEvent.AskDue(), new NodeCommand.Ask(TERM, Optional.of(
                new NodeReport(0, List.of("a", "a", "b", "b"), Map.of(), List.of(at(6), at(7), at(8)),
                        Map.of(0, List.of(), 1, List.of(), 2, List.of(7L, 8L), 3, List.of()))),
                false));
        assertCommands(host("a", "b"), new NodeCommand.StopAsking());
        assertCommands(new NodeEvent.PatienceOver());
        assertCommands(enter(1, List.of(0, 1, 2, 3), "a", "b"), new NodeCommand.Reach(1, 5),
                new NodeCommand.GiveUp(FIRST, 5), new NodeCommand.LookLater(),
                new NodeCommand.BeginEpoch(1, List.of("a", "a", "b", "b"), Map.of()),
                new NodeCommand.Start(SECOND, 5));
    }

    @Test
    void shouldGiveUpIfNoCoordinatorTakesOver() {
        hosting();
        machine.on(new NodeEvent.CoordinatorLost(TERM, false));
        assertCommands(new NodeEvent.PatienceOver(),
                new NodeCommand.End(0, Optional.of(LOST + ", and no other took over within 60 seconds")));
    }

    @Test
    void shouldEndWithItsCoordinatorIfNothingIsKept() {
        tell(host("a", "b"));
        machine.on(new NodeEvent.Opened(4, List.of(List.of(0, 1), List.of(2, 3)), Optional.empty(), false));
        assertCommands(new NodeEvent.CoordinatorLost(TERM, false), new NodeCommand.End(0, Optional.of(LOST)));
    }

    @Test
    void shouldNeedNoCoordinatorWhenTheRunIsOver() {
        hosting();
        assertCommands(new NodeEvent.RunEnded(9, Optional.empty()), new NodeCommand.End(9, Optional.empty()));
        assertCommands(new NodeEvent.CoordinatorLost(TERM, false));
    }

    @Test
    void shouldFreeAllWhenItsGroupsHaveEnded() {
        hosting();
        assertCommands(new NodeEvent.Halt(), new NodeCommand.LetGo(), new NodeCommand.AwaitEnds());
        assertCommands(new NodeEvent.Halt());
        assertCommands(enter(1, List.of(2, 3), "a", "b"));
        assertCommands(
                new NodeEvent.WriteParts(new CheckpointAttempt(4, 0, CheckpointWay.DURING_TRAINING), List.of(2)));
        assertCommands(new NodeEvent.GroupEnded(FIRST), new NodeCommand.Release(Set.of()), new NodeCommand.Stop());
        assertCommands(new NodeEvent.EndOverdue());
    }

    @Test
    void shouldLeaveTheMemoryOfAGroupThatHangs() {
        hosting();
        machine.on(new NodeEvent.Halt());
        assertCommands(new NodeEvent.EndOverdue(), new NodeCommand.Release(Set.of(FIRST)), new NodeCommand.Stop());
        assertCommands(new NodeEvent.AllEnded());
    }

    @Test
    void shouldEndWithTheCoordinatorOfItsProcess() {
        assertCommands(new NodeEvent.CoordinatorLost(TERM, true), new NodeCommand.LetGo(),
                new NodeCommand.Release(Set.of()),
                new NodeCommand.Stop());
    }

    /** An order of another coordinator is received, and an order of the one before is late. */
    @Test
    void shouldObeyNoEarlierCoordinatorThanTheLastOne() {
        hosting();
        machine.on(new NodeEvent.CoordinatorLost(TERM, false));
        assertEquals(List.of(new NodeCommand.Ask(2, machine.report(), false)),
                machine.on(new NodeEvent.Ordered(2, new NodeEvent.Follow())));
        assertCommands(enter(1, List.of(2, 3), "a", "b"));
        assertCommands(new NodeEvent.RunEnded(4, Optional.of("an earlier coordinator ends")));
        machine.on(new NodeEvent.Ordered(2, host("a", "b")));
        assertCommands(host("a", "b"));
        assertCommands(new NodeEvent.CoordinatorLost(TERM, false));
        assertEquals(List.of(new NodeCommand.Start(new RankGroup(2, 1, 2, List.of(2, 3)), 5)),
                machine.on(new NodeEvent.Ordered(2, enter(1, List.of(2, 3), "a", "b"))).stream()
                        .filter(NodeCommand.Start.class::isInstance).toList());
    }

    /** A new process has asked two coordinators: the first was lost before its order to host ranks arrived. */
    @Test
    void shouldKeepAskingIfACoordinatorEndsThatItDoesNotObey() {
        machine.on(new NodeEvent.Ordered(2, new NodeEvent.Follow()));
        assertCommands(host("a", "b"));
        assertCommands(new NodeEvent.CoordinatorLost(TERM, false));
        assertCommands(new NodeEvent.AskDue(), new NodeCommand.Ask(2, Optional.empty(), false));
    }

    private List<NodeCommand> tell(NodeEvent.Order order) {
        return machine.on(new NodeEvent.Ordered(TERM, order));
    }

    private void assertCommands(NodeEvent.Order order, NodeCommand... commands) {
        assertEquals(List.of(commands), tell(order));
    }

    private void hosting() {
        tell(host("a", "b"));
        machine.on(opened());
    }

    private NodeEvent.Opened opened() {
        return new NodeEvent.Opened(4, List.of(List.of(0, 1), List.of(2, 3)), Optional.of(this::versions), false);
    }

    private List<Long> versions(int rank) {
        return kept.getOrDefault(rank, List.of());
    }

    private static NodeEvent.Order host(String first, String second) {
        return new NodeEvent.HostRanks(0, List.of(first, first, second, second), Map.of(), "runs/one");
    }

    private static NodeEvent.Order enter(int epoch, List<Integer> restarted, String first, String second) {
        return new NodeEvent.EnterEpoch(epoch, restarted, 5, List.of(first, first, second, second), Map.of());
    }

    private static NodeEvent.Order commit(long stepsDone) {
        return new NodeEvent.Committed(at(stepsDone));
    }

    private static Commit at(long stepsDone) {
        return new Commit(stepsDone, LossScale.none(stepsDone));
    }

    private void assertCommands(NodeEvent event, NodeCommand... expected) {
        assertEquals(List.of(expected), machine.on(event));
    }
}
