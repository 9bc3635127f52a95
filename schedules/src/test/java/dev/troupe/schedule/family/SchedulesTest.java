package dev.troupe.schedule.family;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.PlanFiles;
import dev.troupe.schedule.PlanRows;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulator;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class SchedulesTest {
    @ParameterizedTest
    @CsvSource({"gpipe, 1, 1, 4", "gpipe, 2, 1, 4", "gpipe, 4, 1, 3", "gpipe, 4, 1, 8", "gpipe, 8, 1, 16", //
            "1f1b, 1, 1, 4", "1f1b, 2, 1, 4", "1f1b, 4, 1, 3", "1f1b, 4, 1, 8", "1f1b, 8, 1, 16", //
            "interleaved-1f1b, 2, 2, 4", "interleaved-1f1b, 4, 2, 8", "interleaved-1f1b, 4, 2, 10",
            "interleaved-1f1b, 4, 4, 8", "interleaved-1f1b, 8, 2, 16", //
            "looped-bfs, 2, 2, 4", "looped-bfs, 4, 2, 8", //
            "interleaved-zero-bubble, 2, 2, 4", "interleaved-zero-bubble, 4, 2, 8", "interleaved-zero-bubble, 8, 2, 16",
            "zbv, 2, 2, 4", "zbv, 4, 2, 6", "zbv, 4, 2, 8", "zbv, 8, 2, 16", //
            "dualpipev, 2, 2, 4", "dualpipev, 4, 2, 8", "dualpipev, 4, 2, 10"})
    void shouldMakeThePublishedPlan(String name, int pipeline, int virtualStages, int microbatches) {
        String expected = PlanFiles.csv(name, pipeline, virtualStages, microbatches);
        Plan plan = Schedules.named(name).plan(pipeline, virtualStages, microbatches);
        assertEquals(expected, plan.toCsv());
        if (pipeline > 1) { // one rank shows no placement
            assertEquals(plan, Plan.fromCsv(name, expected));
        }
    }

    @Test
    void shouldRunAllForwardsThenAllBackwardsUnderGPipe() {
        assertEquals("""
                0F0,0F1,0F2,0B0,0B1,0B2
                1F0,1F1,1F2,1B0,1B1,1B2
                """, new GPipe().plan(2, 1, 3).toCsv());
    }

    @Test
    void shouldGoBackAsSoonAsItCanUnder1F1B() {
        assertEquals("""
                0F0,0F1,0F2,0B0,0F3,0B1,0B2,0B3
                1F0,1F1,1B0,1F2,1B1,1F3,1B2,1B3
                2F0,2B0,2F1,2B1,2F2,2B2,2F3,2B3
                """, new OneForwardOneBackward().plan(3, 1, 4).toCsv());
    }

    @Test
    void shouldPutTheWeightsOffUnderZeroBubble() {
        assertEquals("""
                0F0,0F1,0F2,0I0,0W0,0F3,0I1,0W1,0I2,0W2,0I3,0W3
                1F0,1F1,1I0,1F2,1I1,1W0,1F3,1I2,1W1,1I3,1W2,1W3
                2F0,2I0,2F1,2I1,2F2,2I2,2W0,2F3,2I3,2W1,2W2,2W3
                """, new ZeroBubbleH1().plan(3, 1, 4).toCsv());
        assertEquals("""
                0F0,0F1,0F2,0I0,0W0,0F3,0I1,0W1,0I2,0W2,0I3,0W3
                1F0,1I0,1F1,1I1,1F2,1I2,1W0,1F3,1I3,1W1,1W2,1W3
                """, new ZeroBubbleH2().plan(2, 1, 4).toCsv());
        assertEquals("""
                0F0,0F1,2F0,2F1,2I0,2W0,2I1,2W1,0I0,0W0,0I1,0W1
                1F0,1F1,3F0,3I0,3F1,3I1,3W0,1I0,3W1,1I1,1W0,1W1
                """, new InterleavedZeroBubble().plan(2, 2, 2).toCsv());
    }

    @Test
    void shouldLeaveOutMicrobatchesThatDoNotExistUnderZbv() {
        assertEquals("""
                0F0,0F1,0F2,3F0,3I0,3W0,3F1,3I1,3W1,0I0,0W0,3F2,3I2,3W2,0I1,0W1,0I2,0W2
                1F0,2F0,1F1,2F1,2I0,2W0,1F2,1I0,1W0,2F2,2I1,2W1,1I1,2I2,1I2,1W1,2W2,1W2
                """, new ZeroBubbleV().plan(2, 2, 3).toCsv());
    }

    @Test
    void shouldTakeOneMicrobatchThereAndBackUnderTheRepeatedBlocks() {
        for (Schedule schedule : List.of(new VHalf(), new VMin())) {
            assertEquals("""
                    0F0,3F0,3I0,3W0,0I0,0W0
                    1F0,2F0,2I0,2W0,1I0,1W0
                    """.replace("2I0,2W0,1I0,1W0", "2I0,1I0,2W0,1W0"), schedule.plan(2, 2, 1).toCsv());
        }
    }

    @Test
    void shouldWorkOutTheRowsOf1F1BByTheirPlaces() {
        Plan plan = new OneForwardOneBackward().plan(5, 1, 7);
        PlanRows rows = new OneForwardOneBackward().rows(5, 1, 7);
        for (int rank = 0; rank < 5; rank++) {
            assertEquals(plan.length(rank), rows.length(rank));
            for (int position = 0; position < rows.length(rank); position++) {
                assertEquals(plan.packed(rank, position), rows.packed(rank, position));
            }
        }
    }

    @Test
    void shouldCutTheWarmUpShortWithFewerMicrobatchesThanRanks() {
        assertEquals("""
                0F0,0F1,0B0,0B1
                1F0,1F1,1B0,1B1
                2F0,2F1,2B0,2B1
                3F0,3B0,3F1,3B1
                """, new OneForwardOneBackward().plan(4, 1, 2).toCsv());
        assertEquals("""
                0F0,3F0,3B0,0B0
                1F0,4F0,4B0,1B0
                2F0,5F0,5B0,2B0
                """, new InterleavedOneForwardOneBackward().plan(3, 2, 1).toCsv());
    }

    @Test
    void shouldTakeMicrobatchesThroughTheStagesOfARankInRounds() {
        assertEquals("""
                0F0,0F1,2F0,2F1,0F2,2B0,0F3,2B1,2F2,0B0,2F3,0B1,2B2,2B3,0B2,0B3
                1F0,1F1,3F0,3B0,3F1,3B1,1F2,1B0,1F3,1B1,3F2,3B2,3F3,3B3,1B2,1B3
                """, new InterleavedOneForwardOneBackward().plan(2, 2, 4).toCsv());
    }

    @Test
    void shouldRunForwardsAloneForTheHeldOutLoss() {
        assertEquals("""
                0F0,0F1,2F0,2F1,0F2,0F3,0F4,2F2,2F3,2F4
                1F0,1F1,3F0,3F1,1F2,1F3,1F4,3F2,3F3,3F4
                """, new ForwardOnly(Laps.LOOP).plan(2, 2, 5).toCsv());
        assertEquals("""
                0F0,0F1,3F0,3F1
                1F0,1F1,2F0,2F1
                """, new ForwardOnly(Laps.V).plan(2, 2, 2).toCsv());
    }

    @Test
    void shouldNeverIdleBetweenFillAndDrainWhenRunningForwardsAlone() {
        for (int pipeline = 1; pipeline <= 6; pipeline++) {
            for (int virtualStages = 1; virtualStages <= 4; virtualStages++) {
                for (int microbatches = pipeline; microbatches <= 16; microbatches++) {
                    Plan plan = new ForwardOnly(Laps.LOOP).plan(pipeline, virtualStages, microbatches);
                    assertEquals(virtualStages * microbatches + pipeline - 1,
                            Simulator.run(plan, Costs.units(plan.stageCount())).makespanNanos(), plan::toString);
                }
            }
        }
    }

    @Test
    void shouldNameTheNearestScheduleForAMisspeltOne() {
        assertEquals(List.of("gpipe", "1f1b", "looped-bfs", "interleaved-1f1b", "zb-h1", "zb-h2",
                "interleaved-zero-bubble", "zbv", "v-half", "v-min", "dualpipev"), Schedules.names());
        String all = "There are " + String.join(", ", Schedules.names()) + ", and paths of CSV files.";
        assertRefused("There is no schedule \"GPip\": did you mean \"gpipe\"? " + all,
                () -> Schedules.named("GPip"));
        assertRefused(
                "There is no schedule \"interleave-1f1b\": did you mean \"interleaved-1f1b\"? " + all,
                () -> Schedules.named("interleave-1f1b"));
        assertRefused("There is no schedule \"1fib\": did you mean \"1f1b\"? " + all,
                () -> Schedules.named("1fib"));
        assertRefused("There is no schedule \"foo\": t" + all.substring(1), () -> Schedules.named("foo"));
    }

    @Test
    void shouldRefuseRoundsThatDoNotDivideAndNameNumbersThatWouldDo() {
        assertRefused("interleaved-1f1b takes 9 microbatches through 4 ranks in 2 rounds, but 9 is not divisible by 2: "
                + "take 8 or 10 microbatches.", () -> Schedules.named("interleaved-1f1b").plan(4, 2, 9));
        assertRefused(
                "interleaved-1f1b takes 23 microbatches through 6 ranks in 3 rounds, but 23 is not divisible by 3: "
                        + "take 21 or 24 microbatches.",
                () -> Schedules.named("interleaved-1f1b").plan(6, 2, 23));
    }

    @Test
    void shouldRefuseVirtualStagesIfTheScheduleHasNone() {
        assertRefused("1f1b holds one stage on each rank, but was asked for 2 virtual stages: set virtual-stages to 1 "
                + "(parallel.virtual-stages of a run), or take interleaved-1f1b.",
                () -> Schedules.named("1f1b").plan(4, 2, 8));
        assertRefused(
                "gpipe holds one stage on each rank, but was asked for 3 virtual stages: set virtual-stages to 1 "
                        + "(parallel.virtual-stages of a run), or take interleaved-1f1b.",
                () -> Schedules.named("gpipe").plan(4, 3, 8));
    }

    @Test
    void shouldRefuseAllButTwoStagesIfTheScheduleGoesThereAndBack() {
        for (String name : List.of("zbv", "v-half", "v-min", "dualpipev")) {
            assertRefused(name + " holds two stages on each rank, there and back, but was asked for 1 virtual stage: "
                    + "set virtual-stages to 2 (parallel.virtual-stages of a run).",
                    () -> Schedules.named(name).plan(4, 1, 8));
            assertRefused(name + " holds two stages on each rank, there and back, but was asked for 3 virtual stages: "
                    + "set virtual-stages to 2 (parallel.virtual-stages of a run).",
                    () -> Schedules.named(name).plan(4, 3, 8));
        }
    }

    @Test
    void shouldRefuseTooFewMicrobatchesForDualPipeV() {
        assertRefused("dualpipev needs two microbatches for each rank, but 4 ranks were given 7: take 8 or more, or "
                + "take zbv.", () -> Schedules.named("dualpipev").plan(4, 2, 7));
    }

    @Test
    void shouldRefuseNumbersBelowOneAndBeyondReach() {
        for (String name : Schedules.names()) {
            assertRefused(
                    name + " needs 1 or more ranks, virtual stages and microbatches, but was asked for 0, 1 and 4.",
                    () -> Schedules.named(name).plan(0, 1, 4));
            assertRefused(
                    name + " needs 1 or more ranks, virtual stages and microbatches, but was asked for 2, 1 and -4.",
                    () -> Schedules.named(name).plan(2, 1, -4));
        }
        assertRefused(
                "gpipe with 2 ranks, 1 virtual stages and 2000000000 microbatches has more actions on a rank than "
                        + "a plan can hold: take fewer.",
                () -> new GPipe().plan(2, 1, 2_000_000_000));
    }

    private static void assertRefused(String expected, Runnable request) {
        assertEquals(expected, assertThrows(PlanException.class, request::run).getMessage());
    }
}
