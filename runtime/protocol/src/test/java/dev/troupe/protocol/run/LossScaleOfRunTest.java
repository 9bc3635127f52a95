package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.WeightUpdate;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The loss scale of a run that overflows, or does not; ranks and layers as in {@link RunMachineTest}. */
class LossScaleOfRunTest {
    @Test
    void shouldSkipAStepWithOverflowingGradientsAndHalveTheScale() {
        RunMachine machine = scaled(LossScale.dynamic(7), 5);
        assertEquals(new WeightUpdate(0, 0.5, 0, 7, true, 32768), update(machine, 0, Double.POSITIVE_INFINITY));
        assertEquals(List.of(
                new RunCommand.CommitStep(
                        new StepResult(0, 2, Double.POSITIVE_INFINITY, 0.5, 65536, true, Traffic.NONE),
                        new Commit(1, LossScale.dynamic(7).afterSkip(65536))),
                new RunCommand.StartPass(new Pass(1, Pass.Kind.TRAINING, 32768), RunMachineTest.ALL)),
                updated(machine, 0));
        // A norm of 5 once the scale is undone.
        assertEquals(new WeightUpdate(1, 0.5, 0x1p-15, 8, false, 32768), update(machine, 1, 25 * 0x1p30));
        assertEquals(new RunCommand.StartPass(new Pass(2, Pass.Kind.TRAINING, 32768), RunMachineTest.ALL),
                updated(machine, 1).getLast());
    }

    @Test
    void shouldDoubleTheScaleAfterManyGoodSteps() {
        LossScale ready = new LossScale(LossScale.Rule.DYNAMIC, 8, 1998, 0, 3);
        RunMachine machine = scaled(ready, 5);
        update(machine, 0, 1);
        assertEquals(8, pass(updated(machine, 0)).lossScale());
        update(machine, 1, 1);
        assertEquals(16, pass(updated(machine, 1)).lossScale());
    }

    @Test
    void shouldKeepAScaleThatIsFixed() {
        RunMachine machine = scaled(LossScale.fixed(4, 0), 5);
        assertEquals(new WeightUpdate(0, 0.5, 0, 0, true, 4), update(machine, 0, Double.NaN));
        assertEquals(4, pass(updated(machine, 0)).lossScale());
    }

    @Test
    void shouldFailInWordsIfNoScaleHelps() {
        RunMachine machine = scaled(LossScale.dynamic(0), 50);
        for (int step = 0; step < 19; step++) {
            update(machine, step, Double.POSITIVE_INFINITY);
            updated(machine, step);
        }
        assertEquals(List.of(new RunCommand.Fail("the gradients of 20 steps in a row overflowed, of the last,"
                + " step 19, with a loss scale of 0.125, so training cannot continue: set training.loss-scale to dynamic or"
                + " a smaller number, or lower training.learning-rate.peak")),
                gradients(machine, 19, Double.POSITIVE_INFINITY));
    }

    private static RunMachine scaled(LossScale scale, long steps) {
        RunMachine machine = OneNode.coordinator(
                new RunSettings(2, 0, steps, _ -> 0.5, 0, scale, 0, 0, -1, true, RunMachineTest.PLACES, 0));
        machine.on(RunMachineTest.ready(0));
        machine.on(RunMachineTest.ready(1));
        return machine;
    }

    private static List<RunCommand> gradients(RunMachine machine, long step, double squaredSum) {
        machine.on(RunMachineTest.passDone(0, step, List.of(), 0, squaredSum));
        return machine.on(RunMachineTest.passDone(1, step, List.of(new MicrobatchLoss(0, 2)), 1, 0));
    }

    private static WeightUpdate update(RunMachine machine, long step, double squaredSum) {
        return ((RunCommand.Update) gradients(machine, step, squaredSum).getFirst()).update();
    }

    private static List<RunCommand> updated(RunMachine machine, long step) {
        machine.on(new RunEvent.Updated(RunMachineTest.from(0), step, Traffic.NONE));
        return machine.on(new RunEvent.Updated(RunMachineTest.from(1), step, Traffic.NONE));
    }

    private static Pass pass(List<RunCommand> commands) {
        return ((RunCommand.StartPass) commands.getLast()).pass();
    }
}
