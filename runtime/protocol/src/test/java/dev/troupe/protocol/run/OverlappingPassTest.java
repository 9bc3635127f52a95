package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.WeightUpdate;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A pass of three steps on two ranks, decided one after the other. */
@Tag("simulation")
class OverlappingPassTest {
    private static final List<Integer> ALL = List.of(0, 1);
    private static final Pass PASS = new Pass(0, Pass.Kind.TRAINING, 65536);

    private final RunMachine machine = OneNode
            .coordinator(new RunSettings(2, 0, 6, _ -> 0.5, 0, LossScale.dynamic(0), 0, 0,
                    -1, true, List.of(List.of(0), List.of(1)), 3, 3, false));

    @BeforeEach
    void begin() {
        ready(0, 0);
        assertEquals(List.of(new RunCommand.StartPass(PASS, ALL)), ready(1, 0).subList(0, 1));
    }

    private List<RunCommand> ready(int rank, int epoch) {
        return ready(machine, rank, epoch);
    }

    private static List<RunCommand> ready(RunMachine machine, int rank, int epoch) {
        return machine.on(new RunEvent.EpochReady(new Incarnation(rank, 0, 1), epoch, epoch == 0 ? -1 : PASS.number(),
                List.of()));
    }

    private List<RunCommand> measured(Incarnation from, long step, double squaredSum) {
        return measured(machine, from, step, squaredSum);
    }

    private static List<RunCommand> measured(RunMachine machine, Incarnation from, long step, double squaredSum) {
        return machine.on(new RunEvent.PassDone(from, PASS, step,
                from.rank() == 1 ? List.of(new MicrobatchLoss(0, 2 + step)) : List.of(),
                List.of(new LayerSquaredSum(from.rank(), 0, squaredSum))));
    }

    private static Incarnation first(int rank) {
        return new Incarnation(rank, 0, 1);
    }

    /** A rank is one step ahead; the first step overflows, and the third is the first with forwards that know it. */
    @Test
    void shouldDecideStepsInOrderAndCommitThemTogether() {
        assertEquals(List.of(), measured(first(1), 0, Double.POSITIVE_INFINITY));
        assertEquals(List.of(), measured(first(1), 1, 0));
        assertEquals(List.of(0), machine.missing());
        assertEquals(List.of(new RunCommand.Update(new WeightUpdate(0, 0.5, 0, 0, true, 32768), ALL)),
                measured(first(0), 0, 0));
        assertEquals(List.of(new RunCommand.Update(new WeightUpdate(1, 0.5, 0x1p-16, 1, false, 32768), ALL)),
                measured(first(0), 1, 0x1p32));
        measured(first(0), 2, 0x1p32);
        assertEquals(List.of(new RunCommand.Update(new WeightUpdate(2, 0.5, 0x1p-15, 2, false, 32768), ALL)),
                measured(first(1), 2, 0));
        machine.on(new RunEvent.Updated(first(0), 0, new Traffic(7, 0, 0, 0)));
        var commit = (RunCommand.CommitStep) machine.on(new RunEvent.Updated(first(1), 0, Traffic.NONE)).getFirst();
        assertEquals(List.of(
                new StepResult(0, 2, Double.POSITIVE_INFINITY, 0.5, 65536, true, new Traffic(2, 0, 0, 0)),
                new StepResult(1, 3, 1, 0.5, 65536, false, new Traffic(2, 0, 0, 0)),
                new StepResult(2, 4, 2, 0.5, 32768, false, new Traffic(3, 0, 0, 0))), commit.results());
        assertEquals(3, commit.commit().stepsDone());
        assertEquals(3, machine.stepsDone());
    }

    /** Rank 0 fails when two steps are decided: it receives both decisions again, and the others wait for its third. */
    @Test
    void shouldSendEarlierDecisionsToARankThatRepeatsThePass() {
        for (int step = 0; step < 2; step++) {
            measured(first(0), step, 1);
            measured(first(1), step, 1);
        }
        measured(first(1), 2, 1);
        machine.on(new RunEvent.RankFailed(first(0), "it failed"));
        Incarnation again = new Incarnation(0, 1, 1);
        ready(1, 1);
        assertEquals(List.of(new RunCommand.StartPass(PASS, List.of(0))),
                machine.on(new RunEvent.EpochReady(again, 1, -1, List.of())).subList(0, 1));
        for (int step = 0; step < 2; step++) {
            var update = (RunCommand.Update) measured(again, step, 1).getFirst();
            assertEquals(List.of(0), update.ranks());
            assertEquals(step, update.update().step());
        }
        List<RunCommand> caughtUp = measured(again, 2, 1);
        assertEquals(new RunCommand.ReportCaughtUp(), caughtUp.getFirst());
        assertEquals(ALL, ((RunCommand.Update) caughtUp.get(1)).ranks());
    }

    /** All updates but the last come with the beginning of the pass, also for a rank that repeats it. */
    @Test
    void shouldSendDecisionsAheadIfStagesUpdateAlone() {
        RunMachine alone = OneNode.coordinator(new RunSettings(2, 0, 6, step -> step + 0.5, 0, LossScale.none(4), 0, 0,
                -1, true, List.of(List.of(0), List.of(1)), 3, 3, true));
        ready(alone, 0, 0);
        List<WeightUpdate> ahead = List.of(new WeightUpdate(0, 0.5, 1, 5, false),
                new WeightUpdate(1, 1.5, 1, 6, false));
        Pass pass = new Pass(0, Pass.Kind.TRAINING);
        assertEquals(new RunCommand.StartPass(pass, ahead, ALL), ready(alone, 1, 0).getFirst());
        for (int step = 0; step < 3; step++) {
            assertEquals(List.of(), measured(alone, first(1), step, 1), "it continues alone");
        }
        assertEquals(List.of(), measured(alone, first(0), 0, 1), "ranks were told");
        alone.on(new RunEvent.RankFailed(first(0), "it failed"));
        ready(alone, 1, 1);
        Incarnation again = new Incarnation(0, 1, 1);
        assertEquals(List.of(new RunCommand.StartPass(pass, ahead, List.of(0))),
                alone.on(new RunEvent.EpochReady(again, 1, -1, List.of())).subList(0, 1));
        assertEquals(List.of(), measured(alone, again, 0, 1));
        measured(alone, again, 1, 1);
        assertEquals(new RunCommand.Update(new WeightUpdate(2, 2.5, 1, 7, false), ALL),
                measured(alone, again, 2, 1).getLast());
    }

    @Test
    void shouldRefuseToClipIfStagesUpdateAlone() {
        assertThrows(IllegalArgumentException.class,
                () -> new RunSettings(1, 0, 6, _ -> 0.5, 1, LossScale.none(0), 0, 0,
                        -1, true, List.of(List.of(0)), 3, 3, true));
        assertThrows(IllegalArgumentException.class,
                () -> new RunSettings(1, 0, 6, _ -> 0.5, 0, LossScale.dynamic(0), 0,
                        0, -1, true, List.of(List.of(0)), 3, 3, true));
    }
}
