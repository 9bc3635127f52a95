package dev.troupe.schedule.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.family.OneForwardOneBackward;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddTransfers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class DeltaSimulationTest {
    private static final int[] RANKS = {1, 2, 3, 4, 6, 8, 12, 16};
    private static final int CHANGES_OF_A_PLAN = 50;
    /** Plans of each schedule in a build; {@code -Dtroupe.sweep.seed=N} draws others, so five builds try 10^5 changes. */
    private static final int PLANS = Integer.getInteger("troupe.delta.plans", 37);

    @Test
    void shouldHaveTheTimesOfTheFullSimulationAfterEveryChange() {
        Random drawn = new Random(Long.getLong("troupe.sweep.seed", 0));
        int changes = 0;
        int refused = 0;
        for (int number = 0; number < PLANS; number++) {
            for (String name : Schedules.names()) {
                int ranks = RANKS[drawn.nextInt(RANKS.length)];
                int microbatches = ranks * (2 + drawn.nextInt(2));
                Plan plan = Schedules.named(name).plan(ranks, Schedules.named(name).usualVirtualStages(), microbatches);
                Prices prices = new Prices(plan, drawn);
                DeltaSimulation delta = new DeltaSimulation(plan, prices.costs());
                requireEqual(delta, prices.costs(), name);
                for (int change = 0; change < CHANGES_OF_A_PLAN; change++) {
                    if (drawn.nextBoolean()) {
                        int rank = drawn.nextInt(ranks);
                        int from = drawn.nextInt(plan.length(rank));
                        int to = Math.clamp(from + drawn.nextInt(-4, 5), 0, plan.length(rank) - 1);
                        refused += delta.move(rank, from, to) ? 0 : 1;
                    } else {
                        prices.change(drawn);
                        delta.costs(prices.costs());
                    }
                    changes++;
                    requireEqual(delta, prices.costs(), name + " P = " + ranks + ", change " + change);
                }
            }
        }
        assertEquals(PLANS * Schedules.names().size() * CHANGES_OF_A_PLAN, changes);
        assertTrue(refused > changes / 50 && refused < changes / 2, refused + " of " + changes + " refused");
    }

    private static void requireEqual(DeltaSimulation delta, Costs costs, String where) {
        Plan plan = delta.plan();
        Simulation full = Simulator.run(plan, costs);
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            for (int at = 0; at < plan.length(rank); at++) {
                if (full.startNanos(rank, at) != delta.startNanos(rank, at)) {
                    assertEquals(full.startNanos(rank, at), delta.startNanos(rank, at),
                            where + ", rank " + rank + ", position " + at + "\n" + plan);
                }
            }
        }
        assertEquals(full.makespanNanos(), delta.makespanNanos(), where);
    }

    /** Costs by stage, hops by machine, and the machine of each rank. */
    private static final class Prices {
        private final List<StageCost> stages = new ArrayList<>();
        private final List<Integer> machines = new ArrayList<>();
        private final List<List<Hop>> hops = new ArrayList<>();

        Prices(Plan plan, Random drawn) {
            for (int stage = 0; stage < plan.stageCount(); stage++) {
                stages.add(cost(drawn));
            }
            for (int rank = 0; rank < plan.rankCount(); rank++) {
                machines.add(rank);
                List<Hop> ofRank = new ArrayList<>();
                for (int to = 0; to < plan.rankCount(); to++) {
                    ofRank.add(hop(drawn));
                }
                hops.add(ofRank);
            }
        }

        private static StageCost cost(Random drawn) {
            return new StageCost(drawn.nextInt(20), drawn.nextInt(20), drawn.nextInt(20), drawn.nextInt(30),
                    drawn.nextInt(30));
        }

        private static Hop hop(Random drawn) {
            return new Hop(drawn.nextInt(15), drawn.nextBoolean() ? 1e9 : Double.POSITIVE_INFINITY);
        }

        /** Changes the cost of a stage, a hop, or swaps two ranks. */
        void change(Random drawn) {
            switch (drawn.nextInt(3)) {
                case 0 -> stages.set(drawn.nextInt(stages.size()), cost(drawn));
                case 1 -> hops.get(drawn.nextInt(hops.size())).set(drawn.nextInt(hops.size()), hop(drawn));
                default -> Collections.swap(machines, drawn.nextInt(machines.size()), drawn.nextInt(machines.size()));
            }
        }

        Costs costs() {
            List<Integer> placed = List.copyOf(machines);
            return new Costs(stages, (from, to) -> hops.get(placed.get(from)).get(placed.get(to)));
        }
    }

    @Test
    void shouldRefuseAMoveThatDeadlocksAndChangeNothing() {
        Plan plan = new OneForwardOneBackward().plan(2, 1, 3);
        DeltaSimulation delta = new DeltaSimulation(plan, Costs.units(2));
        // 0F0 0F1 0B0 ...: 0B0 before 0F0 waits for itself.
        assertFalse(delta.move(0, 2, 0));
        assertEquals(plan, delta.plan());
        requireEqual(delta, Costs.units(2), "after the refusal");
    }

    @Test
    void shouldComputeLittleForALateChange() {
        Plan plan = new OneForwardOneBackward().plan(8, 1, 64);
        DeltaSimulation delta = new DeltaSimulation(plan, Costs.units(8));
        int last = plan.length(7) - 1;
        assertTrue(delta.move(7, last, last - 2));
        assertTrue(delta.computedActions() < 60, delta.computedActions() + " of 1024 actions");
    }

    @Test
    void shouldRefuseAPlanWithMessages() {
        Plan lowered = new AddTransfers().apply(new OneForwardOneBackward().plan(2, 1, 2));
        assertThrows(PlanException.class, () -> new DeltaSimulation(lowered, Costs.units(2)));
    }
}
