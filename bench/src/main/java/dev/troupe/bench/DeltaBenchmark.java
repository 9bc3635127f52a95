package dev.troupe.bench;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.OneForwardOneBackward;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.DeltaSimulation;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * The time of a delta simulation against a full one, by ranks and kind of change: 1F1B with M = 4P (M = P for 1,024 ranks),
 * stages of uneven cost, hops that differ by the machine that sends. A row is changed by a swap of neighbours.
 */
public final class DeltaBenchmark {
    private static final int[] RANKS = {8, 64, 1024};

    private DeltaBenchmark() {
    }

    /** The kinds of changes. */
    private enum Change {
        ROW, PLACEMENT, STAGE_COST, HOP
    }

    /** Prints a table: nanoseconds are medians of a change. */
    public static void main(String[] arguments) {
        System.out.println("| ranks | actions | change | full, us | delta, us | speed-up | actions computed |");
        System.out.println("|---|---|---|---|---|---|---|");
        for (int ranks : RANKS) {
            for (Change change : Change.values()) {
                measure(ranks, change, ranks == 1024 ? 15 : 300);
            }
        }
    }

    private static void measure(int ranks, Change change, int times) {
        Random drawn = new Random(45);
        Plan plan = new OneForwardOneBackward().plan(ranks, 1, ranks == 1024 ? ranks : 4 * ranks);
        List<StageCost> stages = new ArrayList<>();
        List<Integer> machines = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            stages.add(new StageCost(1000 + drawn.nextInt(200), 1000, 1000 + drawn.nextInt(200), 1000));
            machines.add(rank);
        }
        int[] slow = drawn.ints(ranks, 0, 300).toArray();
        DeltaSimulation delta = new DeltaSimulation(plan, costs(stages, machines, slow));
        long[] ofDelta = new long[times];
        long[] ofFull = new long[times];
        long computed = delta.computedActions();
        for (int time = 0; time < times; time++) {
            int rank = drawn.nextInt(ranks);
            int from = drawn.nextInt(plan.length(rank) - 1);
            switch (change) {
                case ROW -> {
                }
                case PLACEMENT -> Collections.swap(machines, rank, drawn.nextInt(ranks));
                case STAGE_COST -> stages.set(rank, new StageCost(1000 + drawn.nextInt(200), 1000, 1100, 1000));
                case HOP -> slow[rank] = drawn.nextInt(300);
            }
            Costs costs = costs(stages, machines, slow);
            long begin = System.nanoTime();
            if (change != Change.ROW) {
                delta.costs(costs);
            } else if (!delta.move(rank, from, from + 1)) {
                time--;
                continue;
            }
            ofDelta[time] = System.nanoTime() - begin;
            Plan now = delta.plan();
            begin = System.nanoTime();
            long makespan = Simulator.run(now, costs).makespanNanos();
            ofFull[time] = System.nanoTime() - begin;
            if (makespan != delta.makespanNanos()) {
                throw new IllegalStateException("delta " + delta.makespanNanos() + ", full " + makespan);
            }
        }
        int actions = 0;
        for (int rank = 0; rank < ranks; rank++) {
            actions += plan.length(rank);
        }
        double full = median(ofFull) / 1000.0;
        double part = median(ofDelta) / 1000.0;
        System.out.printf(Locale.ROOT, "| %d | %d | %s | %.1f | %.1f | %.1f | %.0f %% |%n", ranks, actions, change,
                full, part,
                full / part, 100.0 * (delta.computedActions() - computed) / times / actions);
    }

    private static Costs costs(List<StageCost> stages, List<Integer> machines, int[] slow) {
        List<Integer> placed = List.copyOf(machines);
        int[] latency = slow.clone();
        return new Costs(stages, (from, to) -> new Hop(latency[placed.get(from)] + 50L, 1e10));
    }

    private static long median(long[] nanos) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
