package dev.troupe.look.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.fault.FaultKind.Reach;
import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class RandomFaultsTest {
    private static final RandomFaults.Places PLACES = new RandomFaults.Places(4, 5000, 8,
            List.of(new RandomFaults.Sent(0, FaultMessage.ACTIVATION),
                    new RandomFaults.Sent(3, FaultMessage.GRADIENT)));

    @Test
    void shouldDrawTheSameFromTheSameSeed() {
        assertEquals(RandomFaults.draw(3, 20, 1, true, PLACES), RandomFaults.draw(3, 20, 1, true, PLACES));
        assertNotEquals(RandomFaults.draw(3, 20, 1, true, PLACES), RandomFaults.draw(4, 20, 1, true, PLACES));
    }

    @Test
    void shouldDrawAtTheRateOfTheMeanTime() {
        int count = RandomFaults.draw(1, 20, 1, true, PLACES).size();
        assertTrue(count > 200 && count < 300, "5000 s at one in 20 s are 250, but found " + count);
    }

    @Test
    void shouldDrawNoMessageIfNoneIsSent() {
        RandomFaults.Places alone = new RandomFaults.Places(2, 5000, 8, List.of());
        assertTrue(RandomFaults.draw(1, 5, 1, true, alone).stream()
                .noneMatch(fault -> fault.kind().reach() == Reach.MESSAGE));
    }

    /** Two ranks in a V: stage 1 hands on to stage 2 on its own rank. */
    @Test
    void shouldKnowTheMessagesToOtherRanks() {
        TrainingPlan plan = TrainingPlan.of(new Gpt2(4, 8, 2, 4, 16, true, Gpt2.NORM_EPSILON).spec(),
                new StageSettings(1, 4, 4, new Optimizer.Sgd(0)), "uniform", Schedules.named("zbv"),
                new ParallelLayout(2, 1, 1), false, Zero.NONE, 2, 1, 2);
        assertEquals(
                List.of(new RandomFaults.Sent(0, FaultMessage.ACTIVATION),
                        new RandomFaults.Sent(1, FaultMessage.GRADIENT),
                        new RandomFaults.Sent(2, FaultMessage.ACTIVATION),
                        new RandomFaults.Sent(3, FaultMessage.GRADIENT)),
                RandomFaults.Places.of(plan, 9).messages());
    }

    @Test
    void shouldDrawOnlyFaultsThatCanStrike() {
        List<FaultSpec> faults = RandomFaults.draw(1, 5, 1, false, PLACES);
        for (FaultSpec fault : faults) {
            assertTrue(fault.kind().reach() != Reach.PROCESS, fault::text);
            assertEquals(fault.kind().reach() == Reach.MESSAGE
                    ? Optional.of(fault.stage().getAsInt() == 0 ? FaultMessage.ACTIVATION : FaultMessage.GRADIENT)
                    : Optional.empty(), fault.message());
            assertTrue(fault.kind().reach() != Reach.MESSAGE || fault.stage().getAsInt() % 3 == 0, fault::text);
            assertTrue(fault.step().getAsLong() < 5000 && fault.stage().getAsInt() < 4, fault::text);
        }
        assertEquals(faults.stream().map(fault -> fault.step().getAsLong()).sorted().toList(),
                faults.stream().map(fault -> fault.step().getAsLong()).toList());
        assertTrue(faults.stream().map(FaultSpec::kind).distinct().count() > 5);
        assertTrue(RandomFaults.draw(1, 5, 1, true, PLACES).stream()
                .anyMatch(fault -> fault.kind().reach() == Reach.PROCESS));
    }
}
