package dev.troupe.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulator;

@Tag("plan")
class BackwardsTest {
    @Test
    void shouldMergeOnlyHalvesOfOneBackwardThatStandSideBySide() {
        Plan plan = Plan.fromCsv("hand", Placement.LOOP, "0F0,0F1,0F2,0I0,0W0,0I1,0I2,0W1,0W2\n");
        assertEquals("0F0,0F1,0F2,0B0,0I1,0I2,0W1,0W2\n", Backwards.merge(plan).toCsv());
    }

    @Test
    void shouldSplitEveryBackward() {
        Plan plan = Plan.fromCsv("hand", Placement.LOOP, "0F0,0B0,0F1,0I1,0W1\n");
        assertEquals("0F0,0I0,0W0,0F1,0I1,0W1\n", Backwards.split(plan).toCsv());
        assertEquals("0F0,0B0,0F1,0B1\n", Backwards.merge(Backwards.split(plan)).toCsv());
    }

    @Test
    void shouldSplitWhatOtherRanksWaitForInTheCoolDown() {
        Plan plan = Plan.fromCsv("hand", Placement.LOOP, "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
        assertEquals("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1I1,1W1\n", Backwards.splitCoolDown(plan).toCsv());
    }

    @ParameterizedTest
    @CsvSource({"gpipe, 4, 8, 33", "1f1b, 4, 8, 33", "1f1b, 8, 16, 69", "1f1b, 4, 3, 18"})
    void shouldShortenAStepByAWeightGradientForEachRankBeforeTheLast(String name, int ranks, int microbatches,
            long makespan) {
        Plan plan = Schedules.named(name).plan(ranks, 1, microbatches);
        assertEquals(makespan, makespan(plan));
        assertEquals(makespan - (ranks - 1), makespan(Backwards.splitCoolDown(plan)));
    }

    private static long makespan(Plan plan) {
        return Simulator.run(new AddTransfers().apply(plan), Costs.units(plan.stageCount())).makespanNanos();
    }

    @Test
    void shouldKeepThePairs() {
        Plan plan = Plan.fromCsv("hand", Placement.LOOP, "0F0,0F1,0I0,0W0,(0F2;0B1)OVERLAP_F_B,0B2\n");
        assertEquals("0F0,0F1,0B0,(0F2;0B1)OVERLAP_F_B,0B2\n", Backwards.merge(plan).toCsv());
        assertEquals("0F0,0F1,0I0,0W0,(0F2;0I1)OVERLAP_F_B,0W1,0I2,0W2\n", Backwards.split(plan).toCsv());
    }
}
