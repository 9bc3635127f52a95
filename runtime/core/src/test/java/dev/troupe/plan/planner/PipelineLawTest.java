package dev.troupe.plan.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import org.junit.jupiter.api.Test;

class PipelineLawTest {
    private static final long FORWARD = 1_000_000;
    private static final long MESSAGE_BYTES = 9_000;
    /** A message occupies this link for 0.9 forwards and arrives 0.1 forwards later. */
    private static final Hop SLOW = new Hop(FORWARD / 10, 1e7);

    private static Costs costs(Plan plan, Hop hop) {
        return Costs.uniform(plan.stageCount(), new StageCost(FORWARD, FORWARD, FORWARD, MESSAGE_BYTES), hop);
    }

    @Test
    void shouldBeWhatTheSimulatorFindsForGpipe() {
        Plan plan = Schedules.named("gpipe").plan(4, 1, 32);
        double free = Simulator.run(plan, costs(plan, Hop.FREE)).makespanNanos();
        double slow = Simulator.run(plan, costs(plan, SLOW)).makespanNanos();
        PipelineLaw law = PipelineLaw.of(plan, costs(plan, SLOW));
        assertEquals(0.9, law.ratio(), 1e-9);
        assertEquals(0.3, law.busyShare(), 1e-9);
        assertEquals(105 / 111.0, law.mostShare(), 1e-9);
        assertEquals(free / slow, law.mostShare(), 1e-9);
    }

    @Test
    void shouldDelayTheFirstBordersAloneIfRanksHaveSeveralStages() {
        Plan plan = Schedules.named("interleaved-1f1b").plan(4, 2, 32);
        assertEquals(201 / 207.0, PipelineLaw.of(plan, costs(plan, SLOW)).mostShare(), 1e-9);
    }

    @Test
    void shouldLoseNothingOnFreeLinks() {
        Plan plan = Schedules.named("1f1b").plan(4, 1, 8);
        assertEquals(new PipelineLaw(0, 0, 1), PipelineLaw.of(plan, costs(plan, Hop.FREE)));
    }
}
