package dev.troupe.schedule.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.family.GPipe;
import dev.troupe.schedule.family.OneForwardOneBackward;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddSharedGradients;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.lowering.LoweringPass;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class SimulatorTest {
    /** F 10, I 20, W 30, B 45; 100 bytes. */
    private static final StageCost STAGE = new StageCost(10, 20, 30, 45, 100);

    @Test
    void shouldTravelWhileTheSenderComputes() {
        // Bytes take 4 ns, the way 3: 7 from end to start.
        //   rank 0  F0 0-10  F1 10-20                      B0 79-124  B1 124-169
        //   rank 1            F0 17-27  B0 27-72  F1 72-82  B1 82-127
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
        Costs costs = Costs.uniform(2, STAGE, new Hop(3, 25e9));
        for (Plan each : List.of(plan, new AddTransfers().apply(plan))) {
            Simulation simulation = Simulator.run(each, costs);
            assertEquals("0F0 0-10, 0F1 10-20, 0B0 79-124, 0B1 134-179 | 1F0 17-27, 1B0 27-72, 1F1 72-82, 1B1 82-127",
                    times(simulation));
            assertEquals(179, simulation.makespanNanos());
            assertEquals(110, simulation.busyNanos(0));
            assertEquals(69, simulation.idleNanos(0));
            assertEquals(0, simulation.idleWithinSpanNanos(1));
            assertEquals(138.0 / 220, simulation.bubbleOverIdeal());
            assertEquals(138.0 / 358, simulation.bubbleOverTotal());
        }
    }

    @Test
    void shouldSendOneMessageOfAnEdgeAfterTheOther() {
        // A message takes 40 ns of the edge, a forward 10: the second waits for the first.
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, "0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n");
        Simulation simulation = Simulator.run(plan, Costs.uniform(2, STAGE, new Hop(0, 2.5e9)));
        assertEquals(50, simulation.startNanos(1, 0));
        assertEquals(90, simulation.startNanos(1, 1));
    }

    @Test
    void shouldWaitForACreditAndNotHoldUpTheSender() {
        // One credit: F1 leaves when F0 is taken at 110 and the credit is back at 210, and arrives at 310.
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, "0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n");
        Costs costs = Costs.uniform(2, STAGE, new Hop(100, Double.POSITIVE_INFINITY));
        for (Plan each : List.of(plan, new AddTransfers().apply(plan))) {
            assertEquals("0F0 0-10, 0F1 10-20, 0B0 465-510, 0B1 665-710 | 1F0 110-120, 1F1 310-320, 1B0 320-365, "
                    + "1B1 365-410", times(Simulator.run(each, costs, 1)));
        }
    }

    @Test
    void shouldTakeCostsStageByStageAndHopByHop() {
        StageCost heavy = new StageCost(50, 50, 50, 0);
        Costs costs = new Costs(List.of(STAGE, heavy, STAGE),
                (from, to) -> from + to == 1 ? new Hop(5, 1e12) : Hop.FREE);
        Simulation simulation = Simulator.run(new GPipe().plan(3, 1, 1), costs);
        assertEquals("0F0 0-10, 0B0 225-270 | 1F0 15-65, 1B0 120-220 | 2F0 65-75, 2B0 75-120", times(simulation));
    }

    /** The embedding's B ends at 320, since its messages take 105 ns each; its 1,000 shared bytes take 1,005 ns more. */
    @Test
    void shouldSendASharedGradientByItsBytesUnlessOneRankHasBothEnds() {
        List<LoweringPass> passes = List.of(new AddTransfers(),
                new AddSharedGradients(AddSharedGradients.between(0, 1)));
        Costs costs = new Costs(List.of(STAGE, STAGE), (_, _) -> new Hop(5, 1e9), 0, 1000, Costs.Microbatches.ALIKE);
        assertEquals(1325, Simulator.run(LoweringPass.lower(Plan.fromCsv("two", Laps.LOOP, "0F0,0B0\n1F0,1B0\n"),
                passes), costs).makespanNanos());
        assertEquals(110, Simulator.run(LoweringPass.lower(Plan.fromCsv("one", Laps.LOOP, "0F0,1F0,1B0,0B0\n"),
                passes), costs).makespanNanos());
    }

    @Test
    void shouldHandOverWithinARankWithoutAMessage() {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, "0F0,1F0,1B0,0B0\n");
        assertEquals(110, Simulator.run(plan, Costs.uniform(2, STAGE, new Hop(1000, 1))).makespanNanos());
    }

    @Test
    void shouldBeginAPairWithBothInputsAndHandBothOutputsOverAtItsEnd() {
        //   rank 0  F0 0-1  F1 1-2  F2 2-3              B0 8-10
        //   rank 1          F0 1-2  F1 2-3  (F2 5-6 B0 6-8)
        //   rank 2                  F0 2-3  B0 3-5      F2 8-9
        // Apart, F2 would begin at 3, and be on rank 2 at 5.
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, """
                0F0,0F1,0F2,0B0,0B1,0B2
                1F0,1F1,(1F2;1B0)OVERLAP_F_B,1B1,1B2
                2F0,2B0,2F2,2F1,2B1,2B2
                """);
        Simulation simulation = Simulator.run(plan, Costs.units(3));
        assertEquals("1F0 1-2, 1F1 2-3, 1F2 5-6, 1B0 6-8", times(simulation).split(" \\| ")[1].substring(0, 34));
        assertEquals(8, simulation.startNanos(2, 2));
        assertEquals(8, simulation.startNanos(0, 3));
    }

    @Test
    void shouldFindTheCriticalPathOf1F1B() {
        Plan plan = new OneForwardOneBackward().plan(3, 1, 2);
        Simulation simulation = Simulator.run(plan, Costs.units(3));
        assertEquals("0F0 1F0 2F0 2B0 2F1 2B1 1B1 0B1", path(plan, simulation));
        assertEquals(
                "0F0 0SEND_F0 1RECV_F0 1F0 1SEND_F0 2RECV_F0 2F0 2B0 2SEND_B0 2RECV_F1 2F1 2B1 2SEND_B1 1RECV_B1 1B1 "
                        + "1SEND_B1 0RECV_B1 0B1",
                path(new AddTransfers().apply(plan), Simulator.run(new AddTransfers().apply(plan), Costs.units(3))));
    }

    @Test
    void shouldHaveACriticalPathAsLongAsTheStepForEverySchedule() {
        for (String name : Schedules.names()) {
            int virtualStages = Schedules.named(name).usualVirtualStages();
            Plan plan = Schedules.named(name).plan(4, virtualStages, 8);
            Simulation simulation = Simulator.run(plan, Costs.units(plan.stageCount()));
            long time = 0;
            for (var place : simulation.criticalPath()) {
                // A pair hands both its outputs over at its end, so its halves may both lie on the way.
                boolean early = simulation.startNanos(place.rank(), place.position()) < time;
                assertEquals(false, early, () -> name + " at " + plan.at(place));
                time = simulation.endNanos(place.rank(), place.position());
            }
            assertEquals(simulation.makespanNanos(), time, name);
        }
    }

    @Test
    void shouldReportWhoWaitsForEver() {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, "0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n");
        assertEquals(
                "Plan \"hand\" comes to no end: rank 0 waits for ever at 0B0, position 1. Certify the plan to see what "
                        + "for.",
                assertThrows(PlanException.class, () -> Simulator.run(plan, Costs.units(2))).getMessage());
    }

    private static String path(Plan plan, Simulation simulation) {
        return simulation.criticalPath().stream().map(place -> plan.at(place).toString())
                .collect(Collectors.joining(" "));
    }

    private static String times(Simulation simulation) {
        List<String> ranks = new ArrayList<>();
        for (int rank = 0; rank < simulation.rows().rankCount(); rank++) {
            ranks.add(simulation.timeline("test").spansOf(rank).stream()
                    .map(span -> span.action() + " " + span.startNanos() + "-" + span.endNanos())
                    .collect(Collectors.joining(", ")));
        }
        return String.join(" | ", ranks);
    }
}
