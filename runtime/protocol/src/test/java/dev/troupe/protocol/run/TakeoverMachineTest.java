package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.replica.ReplicaTable;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The coordinator when nodes come and go: two ranks on a node each, and a third node that keeps copies. */
class TakeoverMachineTest {
    private static final ReplicaTable.Buddies SPARE = (_, present) -> present.contains("spare")
            ? Map.of("a", "spare", "b", "spare")
            : Map.of();
    private static final Pass FIRST = new Pass(0, Pass.Kind.TRAINING);
    private static final Pass SECOND = new Pass(1, Pass.Kind.TRAINING);

    private final RunMachine machine = new RunMachine(new RunSettings(2, 0, 3, _ -> 0.5, 0,
            LossScale.none(0), 0, 0, -1, true, List.of(List.of(0), List.of(1)), 2),
            new ReplicaTable(List.of("a", "b"), SPARE, 0), 1);

    TakeoverMachineTest() {
        List.of("a", "b", "spare").forEach(node -> machine.on(new RunEvent.NodeJoined(node, Map.of())));
        for (int rank = 0; rank < 2; rank++) {
            machine.on(new RunEvent.EpochReady(new Incarnation(rank, 0, 1), 0, -1, List.of()));
        }
    }

    @Test
    void shouldStartOnlyTheRanksOfALostNodeIfTheirCommitIsCopied() {
        step(0, FIRST);
        copied(0, 1);
        copied(1, 1);
        passDone(0, 0, SECOND);
        assertEquals(
                List.of(new RunCommand.EnterEpoch(1, List.of(1), 1, "b is gone", List.of("a", "spare"),
                        Map.of("b", 1, "spare", 1)),
                        new RunCommand.KeepCopies(1, List.of("spare", ""))),
                machine.on(new RunEvent.NodeLost("b", "b is gone")));
        assertEquals(List.of(1, 0), List.of(machine.incarnation(1).epoch(), machine.incarnation(0).epoch()));
    }

    /** A node that comes late has copies of a commit before the next one is made, and may be the last to report it. */
    @Test
    void shouldSendTheLastCommitToANodeThatComesLate() {
        Commit first = new Commit(0, LossScale.none(0));
        assertEquals(List.of(new RunCommand.NotifyCommit("late", first)),
                machine.on(new RunEvent.NodeJoined("late", Map.of())));
        step(0, FIRST);
        Commit second = new Commit(1, LossScale.none(1));
        assertEquals(List.of(new RunCommand.NotifyCommit("later", second)),
                machine.on(new RunEvent.NodeJoined("later", Map.of())));
    }

    @Test
    void shouldGoBackAStepIfTheCommitIsNotCopiedYet() {
        step(0, FIRST);
        assertEquals(new RunCommand.EnterEpoch(1, List.of(0, 1), 0, "b is gone", List.of("a", "spare"),
                Map.of("b", 1, "spare", 1)), machine.on(new RunEvent.NodeLost("b", "b is gone")).getFirst());
        assertEquals(0, machine.stepsDone());
        machine.on(new RunEvent.EpochReady(new Incarnation(0, 1, 1), 1, -1, List.of()));
        assertEquals(new RunCommand.StartPass(FIRST, List.of(0, 1)),
                machine.on(new RunEvent.EpochReady(new Incarnation(1, 1, 1), 1, -1, List.of())).getFirst());
    }

    @Test
    void shouldStartTheRanksOfALostNodeIfANodeThatCameLateHasTheirCommit() {
        step(0, FIRST);
        machine.on(new RunEvent.NodeJoined("late", Map.of(1, List.of(1L))));
        assertEquals(
                new RunCommand.EnterEpoch(1, List.of(1), 1, "b is gone", List.of("a", "late"),
                        Map.of("b", 1, "late", 1)),
                machine.on(new RunEvent.NodeLost("b", "b is gone")).getFirst());
    }

    /** The lost coordinator may have begun epochs, and ranks in them, with the numbers of present ones. */
    @Test
    void shouldContinueAboveTheEpochOfANodeThatComesLate() {
        step(0, FIRST);
        copied(0, 1);
        copied(1, 1);
        assertEquals(List.of(new RunCommand.EnterEpoch(8, List.of(0, 1), 1,
                "node spare was in epoch 7 of a lost coordinator", List.of("a", "b"), Map.of())),
                machine.on(new RunEvent.NodeLate("spare", 7)));
        assertEquals(new Incarnation(1, 8, 1), machine.incarnation(1));
        assertEquals(9, enteredBy(machine.on(new RunEvent.NodeLate("spare", 3))));
        assertEquals(10, enteredBy(machine.on(new RunEvent.RankFailed(new Incarnation(0, 9, 1), "it broke"))));
        assertEquals(11, enteredBy(machine.on(new RunEvent.RankFailed(new Incarnation(0, 10, 1), "again"))),
                "a node that comes late is no recovery");
    }

    private static int enteredBy(List<RunCommand> commands) {
        return assertInstanceOf(RunCommand.EnterEpoch.class, commands.getFirst()).epoch();
    }

    /** A run that begins again, since the node that knows it is late. */
    @Test
    void shouldStartTheFirstPassAboveTheEpochOfANodeThatComesLate() {
        RunMachine young = new RunMachine(new RunSettings(1, 0, 3, _ -> 0.5, 0, LossScale.none(0), 0, 0, -1, true,
                List.of(List.of(0)), 2), new ReplicaTable(List.of("a"), SPARE, 0), 2);
        assertEquals(3, enteredBy(young.on(new RunEvent.NodeLate("spare", 2))));
        assertEquals(
                List.of(new RunCommand.StartPass(FIRST, List.of(0)),
                        new RunCommand.Resume(3, FIRST.number(), Map.of())),
                young.on(new RunEvent.EpochReady(new Incarnation(0, 3, 2), 3, -1, List.of())));
    }

    @Test
    void shouldIgnoreARankThatAnotherCoordinatorHasStarted() {
        assertEquals(List.of(), machine.on(new RunEvent.RankFailed(new Incarnation(0, 0, 2), "of another term")));
        assertEquals(1, enteredBy(machine.on(new RunEvent.RankFailed(new Incarnation(0, 0, 1), "it broke"))));
    }

    @Test
    void shouldUpdateOnlyWhenTheLastCommitIsCopied() {
        step(0, FIRST);
        passDone(0, 0, SECOND);
        assertEquals(List.of(), passDone(1, 0, SECOND));
        assertEquals(List.of(0, 1), machine.awaitsCopiesOf());
        copied(0, 1);
        assertEquals(RunCommand.Update.class, copied(1, 1).getFirst().getClass());
    }

    @Test
    void shouldNotWaitForCopiesThatAreTooLate() {
        step(0, FIRST);
        passDone(0, 0, SECOND);
        passDone(1, 0, SECOND);
        assertEquals(RunCommand.Update.class,
                machine.on(new RunEvent.CopiesLate()).getFirst().getClass());
    }

    @Test
    void shouldEndIfNobodyHasTheCopiesOfALostNode() {
        step(0, FIRST);
        copied(0, 1);
        copied(1, 1);
        step(0, SECOND);
        assertEquals(List.of(), machine.on(new RunEvent.NodeLost("spare", "spare is gone")).stream()
                .filter(command -> !(command instanceof RunCommand.KeepCopies)).toList());
        assertEquals(List.of(new RunCommand.Fail(
                "b is gone, and no other node has copies of the snapshots of its ranks [1]")),
                machine.on(new RunEvent.NodeLost("b", "b is gone")));
    }

    private void step(int epoch, Pass pass) {
        passDone(0, epoch, pass);
        passDone(1, epoch, pass);
        for (int rank = 0; rank < 2; rank++) {
            machine.on(new RunEvent.Updated(new Incarnation(rank, epoch, 1), pass.step(), Traffic.NONE));
        }
    }

    private List<RunCommand> passDone(int rank, int epoch, Pass pass) {
        return machine.on(new RunEvent.PassDone(new Incarnation(rank, epoch, 1), pass,
                rank == 1 ? List.of(new MicrobatchLoss(0, 2)) : List.of(), List.of(new LayerSquaredSum(rank, 0, 9))));
    }

    private List<RunCommand> copied(int rank, long stepsDone) {
        return machine.on(new RunEvent.Copied(rank, "spare", stepsDone));
    }
}
