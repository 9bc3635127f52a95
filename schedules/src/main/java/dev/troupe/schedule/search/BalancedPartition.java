package dev.troupe.schedule.search;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The partition into contiguous stages of which the longest is as short as possible, by dynamic programming: the best of
 * the stages k, k+1, ... over the units i, i+1, ... is the best over j of max(cost of i..j-1 as stage k, best of stages
 * k+1, ... over j, ...). Exact; stages x units^2 evaluations of the cost. Of equal partitions it takes the one with the
 * smallest first stage, then the smallest second stage, and so on.
 *
 * <p>The longest stage is not the step: {@link SimulatedPartition} starts from here.
 *
 * <p>Source: Huang et al., GPipe, 2019, section 2.2, asks for balanced cells and gives no rule; this is the program for
 * the linear partition problem.
 */
public final class BalancedPartition {
    /** The cost of a stage that cannot be. */
    public static final long IMPOSSIBLE = Long.MAX_VALUE;

    private BalancedPartition() {
    }

    /** The cost of contiguous units as a stage. */
    @FunctionalInterface
    public interface Cost {
        /** Returns the cost of the units from {@code first} to {@code end - 1} as a stage; {@link #IMPOSSIBLE} if it is. */
        long of(int stage, int first, int end);
    }

    /** Returns the best partition; empty if none is possible. */
    public static Optional<Borders> of(int units, int stages, Cost cost) {
        long[][] best = new long[stages + 1][units + 1];
        for (long[] ofStage : best) {
            Arrays.fill(ofStage, IMPOSSIBLE);
        }
        best[stages][units] = 0;
        for (int stage = stages - 1; stage >= 0; stage--) {
            for (int first = stage; first <= units - (stages - stage); first++) {
                for (int end = first + 1; end <= units - (stages - stage - 1); end++) {
                    if (best[stage + 1][end] < best[stage][first]) {
                        long longest = Math.max(cost.of(stage, first, end), best[stage + 1][end]);
                        best[stage][first] = Math.min(best[stage][first], longest);
                    }
                }
            }
        }
        return best[0][0] == IMPOSSIBLE ? Optional.empty() : Optional.of(walk(stages, cost, best));
    }

    /** Takes for each stage the fewest units with which the whole stays the best. */
    private static Borders walk(int stages, Cost cost, long[][] best) {
        List<Integer> sizes = new ArrayList<>();
        int first = 0;
        for (int stage = 0; stage < stages; stage++) {
            int end = first + 1;
            while (best[stage + 1][end] > best[0][0] || cost.of(stage, first, end) > best[0][0]) {
                end++;
            }
            sizes.add(end - first);
            first = end;
        }
        return new Borders(sizes);
    }

    /**
     * Returns the partition of which the stage with the longest forward and backward is as short as possible, rank r on
     * machine r. A stage is impossible if it alone, with the fewest activations of its rank's row, does not fit.
     */
    public static Optional<Borders> of(PlanningProblem problem, Plan plan) {
        List<Unit> units = problem.units();
        long[] nanos = new long[units.size() + 1];
        long[] resident = new long[units.size() + 1];
        long[] activation = new long[units.size() + 1];
        for (int i = 0; i < units.size(); i++) {
            Unit unit = units.get(i);
            nanos[i + 1] = nanos[i] + unit.cost().forwardNanos() + unit.cost().fullBackwardNanos();
            resident[i + 1] = resident[i] + unit.residentBytes();
            activation[i + 1] = activation[i] + unit.activationBytes();
        }
        int[] live = new int[plan.stageCount()];
        for (int stage = 0; stage < live.length; stage++) {
            live[stage] = peak(plan, stage);
        }
        return of(units.size(), plan.stageCount(), (stage, first, end) -> {
            Machine machine = problem.machines().get(plan.rankOf(stage, 0));
            long bytes = resident[end] - resident[first] + live[stage] * (activation[end] - activation[first]);
            return bytes > machine.memoryBytes()
                    ? IMPOSSIBLE
                    : Math.round((nanos[end] - nanos[first]) / machine.speed());
        });
    }

    /** Returns the most activations of a stage that are live at one time. */
    private static int peak(Plan plan, int stage) {
        int live = 0;
        int most = 0;
        for (var action : plan.rows().get(plan.rankOf(stage, 0))) {
            if (action.stage() == stage) {
                live += action.kind() == Kind.FORWARD ? 1 : 0;
                most = Math.max(most, live);
                live -= action.kind().freesActivation() ? 1 : 0;
            }
        }
        return most;
    }
}
