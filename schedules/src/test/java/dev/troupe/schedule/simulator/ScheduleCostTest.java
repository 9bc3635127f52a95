package dev.troupe.schedule.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddTransfers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The costs of every schedule in its paper: F, I and W take one unit each, messages none. */
@Tag("plan")
class ScheduleCostTest {
    @ParameterizedTest
    @CsvSource({"gpipe, 4, 1, 8, 33", "1f1b, 4, 1, 8, 33", "looped-bfs, 4, 2, 8, 57", "interleaved-1f1b, 4, 2, 8, 57",
            "interleaved-1f1b, 4, 4, 8, 105", "interleaved-zero-bubble, 4, 2, 8, 51", "zbv, 4, 2, 8, 51",
            "dualpipev, 4, 2, 8, 54", "gpipe, 8, 1, 16, 69", "1f1b, 8, 1, 16, 69", "1f1b, 4, 1, 3, 18",
            "1f1b, 4, 1, 1, 12", "zb-h1, 4, 1, 8, 27", "zb-h2, 4, 1, 8, 27", "v-half, 4, 2, 8, 57",
            "v-min, 4, 2, 8, 59"})
    void shouldTakeTheTimeOfThePapers(String name, int pipeline, int virtualStages, int microbatches, int units) {
        Plan plan = plan(name, pipeline, virtualStages, microbatches);
        assertEquals(units, simulate(plan).makespanNanos());
        assertEquals(units, simulate(new AddTransfers().apply(plan)).makespanNanos(), "lowered");
    }

    @ParameterizedTest
    @CsvSource({"4, 8", "4, 16", "6, 12", "8, 32", "8, 16", "5, 20"})
    void shouldHaveTheBubblesOfThePapers(int pipeline, int microbatches) {
        double p = pipeline;
        double m = microbatches;
        assertBubble((p - 1) / m, "gpipe", pipeline, 1, microbatches);
        assertBubble((p - 1) / m, "1f1b", pipeline, 1, microbatches);
        assertBubble((p - 1) / (3 * m), "zb-h1", pipeline, 1, microbatches);
        assertBubble((p - 1) / (6 * m), "zbv", pipeline, 2, microbatches);
        assertBubble((p - 1) / (3 * m), "dualpipev", pipeline, 2, microbatches);
        for (int v = 1; v <= 4; v++) {
            assertBubble((p - 1) / (v * m), "looped-bfs", pipeline, v, microbatches);
            if (microbatches % pipeline == 0) {
                assertBubble((p - 1) / (v * m), "interleaved-1f1b", pipeline, v, microbatches);
                assertBubble((p - 1) / (3 * v * m), "interleaved-zero-bubble", pipeline, v, microbatches);
            }
        }
    }

    @Test
    void shouldLeaveNoGapWithinARankUnderZeroBubble() {
        for (int pipeline = 1; pipeline <= 8; pipeline++) {
            for (int microbatches = 2 * pipeline - 1; microbatches <= 20; microbatches++) {
                Simulation h2 = simulate(plan("zb-h2", pipeline, 1, microbatches));
                Simulation v = simulate(plan("zbv", pipeline, 2, microbatches));
                for (int rank = 0; rank < pipeline; rank++) {
                    assertEquals(0, h2.idleWithinSpanNanos(rank));
                    assertEquals(0, v.idleWithinSpanNanos(rank));
                }
                // The last rank starts P-1 forwards late, and the step waits for it.
                assertEquals(3 * microbatches + pipeline - 1, h2.makespanNanos());
                assertEquals(6 * microbatches + pipeline - 1, v.makespanNanos());
            }
        }
    }

    @Test
    void shouldHalveTheBubbleUnderVHalfAndTakeAThirdOffUnderVMin() {
        for (int pipeline = 2; pipeline <= 12; pipeline++) {
            int microbatches = 3 * pipeline;
            long bubbleOf1F1B = 6L * (pipeline - 1); // in units of a stage that is half as large
            long half = simulate(plan("v-half", pipeline, 2, microbatches)).makespanNanos() - 6L * microbatches;
            long min = simulate(plan("v-min", pipeline, 2, microbatches)).makespanNanos() - 6L * microbatches;
            assertTrue(2 * half <= bubbleOf1F1B, "v-half, P = " + pipeline + ": " + half);
            // If P divides by 3 the block has to wait, see VMin: one unit more.
            assertTrue(3 * (min - (pipeline % 3 == 0 ? 1 : 0)) <= 2 * bubbleOf1F1B,
                    "v-min, P = " + pipeline + ": " + min);
        }
    }

    @Test
    void shouldTakePairsOfDualPipeVApartForAShorterStep() {
        Plan plan = plan("dualpipev", 4, 2, 8);
        assertEquals(51, simulate(new AddTransfers().apply(plan.withRows(plan.rows()))).makespanNanos());
    }

    private static void assertBubble(double expected, String name, int pipeline, int virtualStages, int microbatches) {
        Simulation simulation = simulate(plan(name, pipeline, virtualStages, microbatches));
        assertEquals(expected, simulation.bubbleOverIdeal(), 1e-12,
                () -> name + " P = " + pipeline + ", V = " + virtualStages + ", M = " + microbatches);
        assertEquals(expected / (1 + expected), simulation.bubbleOverTotal(), 1e-12);
    }

    private static Plan plan(String name, int pipeline, int virtualStages, int microbatches) {
        return Schedules.named(name).plan(pipeline, virtualStages, microbatches);
    }

    private static Simulation simulate(Plan plan) {
        return Simulator.run(plan, Costs.units(plan.stageCount()));
    }
}
