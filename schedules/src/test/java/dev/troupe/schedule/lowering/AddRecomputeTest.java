package dev.troupe.schedule.lowering;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.drawing.TerminalDrawing;
import dev.troupe.schedule.drawing.TimeScale;
import dev.troupe.schedule.family.PipeDream;
import dev.troupe.schedule.family.PipeDream2Bw;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Replays before their backwards: F and a replay take one unit, B two, unless a test sets others. */
@Tag("plan")
class AddRecomputeTest {
    @Test
    void shouldReplayWhileARankWaits() {
        Plan plan = new AddRecompute().apply(Schedules.named("1f1b").plan(2, 1, 2));
        assertEquals("""
                0F0,0F1,0RECOMPUTE0,0B0,0RECOMPUTE1,0B1
                1F0,1B0,1F1,1B1
                """, plan.toCsv());
        assertEquals("""
                1f1b: 11 units; bubble 37.5% of ideal time, 27.3% of total
                rank 0 F0--F1--R0--        B0------R1--    B1------
                rank 1     F0--B0----------F1--B1----------""",
                TerminalDrawing.draw(Simulator.run(plan, costs(plan, 1, 0)).timeline("1f1b"), TimeScale.UNITS, 120,
                        false).lines().map(String::stripTrailing).reduce((one, other) -> one + "\n" + other)
                        .orElseThrow());
    }

    @Test
    void shouldReadAReplayFromItsText() {
        String csv = "0F0,0RECOMPUTE0,0B0\n1F0,1B0\n";
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, csv);
        assertEquals(csv, plan.toCsv());
        assertEquals(csv, new AddRecompute().apply(plan).toCsv());
        assertEquals("0F0,0SEND_F0,0RECOMPUTE0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
                new AddTransfers().apply(plan).toCsv());
    }

    @Test
    void shouldComeBeforeAPair() {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, """
                0F0,(0F1;0B0)OVERLAP_F_B,0B1
                1F0,1B0,1F1,1B1
                """);
        assertEquals("""
                0F0,0RECOMPUTE0,(0F1;0B0)OVERLAP_F_B,0RECOMPUTE1,0B1
                1F0,1B0,1F1,1B1
                """, new AddRecompute().apply(plan).toCsv());
    }

    /** P = 4, M = 8: 44 and 41 units; P = 8, M = 8: 60 and 53; P = 8, M = 16: 92 and 85. */
    @ParameterizedTest
    @CsvSource({"1f1b", "gpipe"})
    void shouldSaveAReplayForEveryRankButOne(String name) {
        for (int pipeline = 1; pipeline <= 8; pipeline++) {
            for (int microbatches = 1; microbatches <= 16; microbatches++) {
                Plan inside = Schedules.named(name).plan(pipeline, 1, microbatches);
                Plan ahead = new AddRecompute().apply(inside);
                assertEquals(4 * (microbatches + pipeline - 1),
                        Simulator.run(inside, costs(inside, 1, 0)).makespanNanos());
                assertEquals(4 * microbatches + 3 * (pipeline - 1),
                        Simulator.run(ahead, costs(ahead, 1, 0)).makespanNanos());
            }
        }
    }

    /** Whatever time actions take: the replay in front begins no later than the one inside would. */
    @Test
    void shouldMakeNoPlanSlowerAndHoldOneReplayARank() {
        int faster = 0;
        for (Plan inside : plans()) {
            Plan ahead = new AddRecompute().apply(inside);
            Certificate certificate = PlanValidator.certify(new AddTransfers().apply(ahead), Purpose.TRAINING, 1);
            assertTrue(certificate.peakReplays().stream().allMatch(peak -> peak <= 1), inside::toCsv);
            for (int replay = 1; replay <= 3; replay++) {
                for (int hop = 0; hop <= 2; hop++) {
                    long before = Simulator.run(inside, costs(inside, replay, hop)).makespanNanos();
                    long after = Simulator.run(ahead, costs(ahead, replay, hop)).makespanNanos();
                    assertTrue(after <= before, inside::toCsv);
                    faster += after < before ? 1 : 0;
                }
            }
        }
        assertTrue(faster > 50, faster + " are faster");
    }

    private static List<Plan> plans() {
        List<Plan> plans = new ArrayList<>();
        for (String name : Schedules.names()) {
            Schedule schedule = Schedules.named(name);
            plans.add(schedule.plan(3, schedule.usualVirtualStages(), 6));
            plans.add(schedule.plan(4, schedule.usualVirtualStages(), 8));
        }
        plans.add(new PipeDream2Bw(PipeDream2Bw.Updates.LAZY, 1).plan(3, 3, 4));
        plans.add(new PipeDream2Bw(PipeDream2Bw.Updates.EAGER, 2).plan(3, 4, 4));
        plans.add(new PipeDream(false).plan(3, 1, 6));
        return plans;
    }

    @Test
    void shouldReplayOnTheVersionOfTheForward() {
        Plan plan = new AddRecompute().apply(new PipeDream2Bw(PipeDream2Bw.Updates.LAZY, 1).plan(2, 2, 4));
        List<Action> replays = plan.rows().getFirst().stream().filter(action -> action.kind() == Kind.RECOMPUTE)
                .toList();
        assertEquals("[0RECOMPUTE0@0, 0RECOMPUTE1@0, 0RECOMPUTE2@0, 0RECOMPUTE3@0, 0RECOMPUTE4@1, 0RECOMPUTE5@1,"
                + " 0RECOMPUTE6@2, 0RECOMPUTE7@2]", replays.toString());
        assertTrue(
                PlanValidator.certify(new AddTransfers().apply(plan), Purpose.TRAINING, 1).steadyState().isPresent());
    }

    private static Costs costs(Plan plan, long replay, long hop) {
        List<StageCost> stages = new ArrayList<>();
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            stages.add(new StageCost(1, 1, 1, 0).replaying(replay, plan.stagesThatReplay().contains(stage)));
        }
        return new Costs(stages, (_, _) -> new Hop(hop, Double.POSITIVE_INFINITY));
    }
}
