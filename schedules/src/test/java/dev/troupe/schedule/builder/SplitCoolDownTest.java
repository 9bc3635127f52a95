package dev.troupe.schedule.builder;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class SplitCoolDownTest {
    @Test
    void shouldSplitBackwardsThatOtherRanksWaitForInTheCoolDown() {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
        assertEquals("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1I1,1W1\n", SplitCoolDown.split(plan).toCsv());
    }

    @ParameterizedTest
    @CsvSource({"gpipe, 4, 8, 33", "1f1b, 4, 8, 33", "1f1b, 8, 16, 69", "1f1b, 4, 3, 18"})
    void shouldShortenAStepByAWeightGradientForEachRankBeforeTheLast(String name, int ranks, int microbatches,
            long makespan) {
        Schedule schedule = Schedules.named(name);
        assertEquals(makespan, makespan(schedule.plan(ranks, 1, microbatches)));
        assertEquals(makespan - (ranks - 1), makespan(new SplitCoolDown(schedule).plan(ranks, 1, microbatches)));
    }

    private static long makespan(Plan plan) {
        return Simulator.run(new AddTransfers().apply(plan), Costs.units(plan.stageCount())).makespanNanos();
    }

    @Test
    void shouldKeepThePairs() {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP,
                "0F0,0F1,0F2,0B0,0B1,0B2\n1F0,1B0,1F1,(1F2;1B1)OVERLAP_F_B,1B2\n");
        assertEquals("0F0,0F1,0F2,0B0,0B1,0B2\n1F0,1B0,1F1,(1F2;1I1)OVERLAP_F_B,1W1,1I2,1W2\n",
                SplitCoolDown.split(plan).toCsv());
    }
}
