package dev.troupe.schedule.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.InterleavedOneForwardOneBackward;
import dev.troupe.schedule.family.OneForwardOneBackward;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class PartitionSearchTest {
    @Test
    void shouldBalanceAsBruteForceDoes() {
        Random drawn = new Random(45);
        for (int units = 1; units <= 10; units++) {
            for (int stages = 1; stages <= Math.min(5, units); stages++) {
                List<Borders> all = compositions(units, stages);
                for (int draw = 0; draw < 200; draw++) {
                    long[] costs = drawn.longs(units, 1, 10).toArray();
                    assertBest(all, costs);
                }
            }
        }
    }

    /** Every case, if costs are 1 to 4 and units are 6 at most. */
    @Test
    void shouldBalanceEverySmallCaseAsBruteForceDoes() {
        for (int units = 1; units <= 6; units++) {
            for (int stages = 1; stages <= Math.min(5, units); stages++) {
                List<Borders> all = compositions(units, stages);
                for (int number = 0; number < 1 << 2 * units; number++) {
                    long[] costs = new long[units];
                    for (int unit = 0; unit < units; unit++) {
                        costs[unit] = 1 + (number >> 2 * unit & 3);
                    }
                    assertBest(all, costs);
                }
            }
        }
    }

    /** Compositions come in the order of the tie rule, so that the first of the best is the one to be found. */
    private static void assertBest(List<Borders> all, long[] costs) {
        Borders best = all.getFirst();
        for (Borders each : all) {
            best = largest(each, costs) < largest(best, costs) ? each : best;
        }
        Borders found = BalancedPartition
                .of(costs.length, best.sizes().size(), (_, first, end) -> sum(costs, first, end)).orElseThrow();
        assertEquals(best, found, () -> "costs " + Arrays.toString(costs));
    }

    private static long sum(long[] costs, int first, int end) {
        long sum = 0;
        for (int unit = first; unit < end; unit++) {
            sum += costs[unit];
        }
        return sum;
    }

    private static long largest(Borders borders, long[] costs) {
        long largest = 0;
        for (int stage = 0; stage < borders.sizes().size(); stage++) {
            int first = borders.first(stage);
            largest = Math.max(largest, sum(costs, first, first + borders.sizes().get(stage)));
        }
        return largest;
    }

    static List<Borders> compositions(int units, int stages) {
        List<Borders> all = new ArrayList<>();
        compose(units, stages, List.of(), all);
        return all;
    }

    private static void compose(int left, int stages, List<Integer> sizes, List<Borders> all) {
        if (stages == 0) {
            if (left == 0) {
                all.add(new Borders(sizes));
            }
            return;
        }
        for (int size = 1; size <= left - stages + 1; size++) {
            List<Integer> longer = new ArrayList<>(sizes);
            longer.add(size);
            compose(left - size, stages - 1, longer, all);
        }
    }

    @Test
    void shouldNeverBeLongerThanUniformInSimulation() {
        Random drawn = new Random(4);
        int shorter = 0;
        for (int draw = 0; draw < 10_000; draw++) {
            int ranks = 1 + drawn.nextInt(4);
            int virtualStages = 1 + drawn.nextInt(2);
            int microbatches = ranks * (1 + drawn.nextInt(2));
            Plan plan = virtualStages == 1
                    ? new OneForwardOneBackward().plan(ranks, 1, microbatches)
                    : new InterleavedOneForwardOneBackward().plan(ranks, 2, microbatches);
            int units = plan.stageCount() + drawn.nextInt(5);
            PlanningProblem problem = problem(drawn, units, ranks);
            Candidate uniform = new Candidate(plan, Borders.uniform(units, plan.stageCount()));
            Candidate refined = new SimulatedPartition(problem, 24).refine(uniform);
            assertEquals(units, refined.borders().sizes().stream().mapToInt(Integer::intValue).sum());
            long saved = problem.stepNanos(uniform) - problem.stepNanos(refined);
            assertTrue(saved >= 0, () -> "draw with " + problem + ": " + refined.borders());
            shorter += saved > 0 ? 1 : 0;
        }
        assertTrue(shorter > 3000, shorter + " of 10000 were shorter");
    }

    private static PlanningProblem problem(Random drawn, int units, int ranks) {
        List<Unit> all = new ArrayList<>();
        for (int unit = 0; unit < units; unit++) {
            all.add(new Unit("unit " + unit,
                    new StageCost(drawn.nextInt(1, 10), drawn.nextInt(1, 10), drawn.nextInt(1, 10), 8), 0, 0));
        }
        List<Machine> machines = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            machines.add(new Machine(1 + drawn.nextInt(3) / 2.0, Long.MAX_VALUE));
        }
        Hop hop = new Hop(drawn.nextInt(10), 1e9 * (1 + drawn.nextInt(9)));
        return new PlanningProblem(all, machines, (_, _) -> hop);
    }

    @Test
    void shouldFindTheBestOfAllPartitionsInSimulationAlmostAlways() {
        Random drawn = new Random(9);
        Plan plan = new OneForwardOneBackward().plan(4, 1, 6);
        List<Borders> all = compositions(12, 4);
        assertEquals(165, all.size(), "more than are simulated");
        int best = 0;
        for (int draw = 0; draw < 300; draw++) {
            PlanningProblem problem = problem(drawn, 12, 4);
            best += isShortest(problem, all, new SimulatedPartition(problem, 150)
                    .refine(new Candidate(plan, Borders.uniform(12, 4)))) ? 1 : 0;
        }
        assertTrue(best >= 280, best + " of 300 are the best");
    }

    private static boolean isShortest(PlanningProblem problem, List<Borders> all, Candidate found) {
        return problem.stepNanos(found) == all.stream().mapToLong(borders -> problem.stepNanos(found.with(borders)))
                .min().orElseThrow();
    }

    /** Every count of 2 to 10 units and of stages that 1 to 5 ranks have, under five schedules. */
    @Test
    void shouldBeTheBestOfAllPartitionsInSimulationIfThereAreFew() {
        Random drawn = new Random(17);
        for (String schedule : List.of("gpipe", "1f1b", "zb-h1", "interleaved-1f1b", "zbv")) {
            int virtualStages = schedule.equals("interleaved-1f1b") || schedule.equals("zbv") ? 2 : 1;
            for (int ranks = 1; ranks <= 5; ranks++) {
                Plan plan = Schedules.named(schedule).plan(ranks, virtualStages, 2 * ranks);
                for (int units = Math.max(2, plan.stageCount()); units <= 10; units++) {
                    List<Borders> all = compositions(units, plan.stageCount());
                    for (int draw = 0; draw < 3; draw++) {
                        PlanningProblem problem = problem(drawn, units, ranks);
                        Candidate found = new SimulatedPartition(problem)
                                .refine(new Candidate(plan, Borders.uniform(units, plan.stageCount())));
                        assertTrue(isShortest(problem, all, found), () -> schedule + " with " + problem);
                    }
                }
            }
        }
    }

    @Test
    void shouldCountAllPartitions() {
        assertEquals(126, Borders.count(10, 5));
        assertEquals(compositions(10, 5), Borders.all(10, 5));
        assertEquals(1, Borders.count(3, 3));
        assertEquals(0, Borders.count(2, 3));
        assertEquals(Long.MAX_VALUE, Borders.count(400, 64));
    }

    @Test
    void shouldGiveASlowMachineFewerUnits() {
        List<Unit> units = Collections.nCopies(8, new Unit("half", new StageCost(10, 10, 10, 0), 0, 0));
        PlanningProblem problem = new PlanningProblem(units,
                List.of(new Machine(1, Long.MAX_VALUE), new Machine(1 / 3.0, Long.MAX_VALUE)), (_, _) -> Hop.FREE);
        Plan plan = new OneForwardOneBackward().plan(2, 1, 8);
        assertEquals(List.of(6, 2), BalancedPartition.of(problem, plan).orElseThrow().sizes());
        assertEquals(List.of(6, 2),
                new SimulatedPartition(problem, 100).refine(new Candidate(plan, Borders.uniform(8, 2))).borders()
                        .sizes());
    }

    @Test
    void shouldKeepToTheMemoryOfEachMachine() {
        List<Unit> units = Collections.nCopies(8, new Unit("half", new StageCost(10, 10, 10, 0), 100, 10));
        Plan plan = new OneForwardOneBackward().plan(2, 1, 4);
        // Rank 0 keeps two microbatches, 120 bytes a unit, rank 1 one, 110 bytes: 3 and 5 units.
        PlanningProblem tight = new PlanningProblem(units, List.of(new Machine(1, 360), new Machine(1, 550)),
                (_, _) -> Hop.FREE);
        Candidate found = new SimulatedPartition(tight, 100).refine(new Candidate(plan, Borders.uniform(8, 2)));
        assertEquals(List.of(3, 5), found.borders().sizes());
        assertEquals(360, tight.bytes(0, found));
        assertEquals(550, tight.bytes(1, found));
        assertTrue(tight.refusal(found).isEmpty());
        assertEquals("rank 0 needs 480 bytes, but its machine 0 has 360: 120 too few",
                tight.refusal(found.with(Borders.uniform(8, 2))).orElseThrow());

        PlanningProblem tooTight = new PlanningProblem(units, List.of(new Machine(1, 359), new Machine(1, 550)),
                (_, _) -> Hop.FREE);
        assertFalse(BalancedPartition.of(tooTight, plan).isPresent());
        assertEquals(
                "no partition of 8 units fits: at best rank 0 needs 360 bytes, but its machine 0 has 359: 1 too few",
                assertThrows(IllegalArgumentException.class,
                        () -> new SimulatedPartition(tooTight, 100).refine(found)).getMessage());
    }

    @Test
    void shouldAcceptUnitsThatDoNotDivideAndRefuseTooFew() {
        assertEquals(List.of(3, 2, 2), Borders.uniform(7, 3).sizes());
        assertThrows(IllegalArgumentException.class, () -> Borders.uniform(2, 3));
        assertTrue(BalancedPartition.of(2, 3, (_, _, _) -> 1).isEmpty());
    }
}
