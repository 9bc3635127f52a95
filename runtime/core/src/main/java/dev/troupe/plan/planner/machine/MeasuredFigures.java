package dev.troupe.plan.planner.machine;

import dev.troupe.model.ModelSpec;
import dev.troupe.plan.planner.MachineFigures;
import dev.troupe.plan.planner.PlanGrid;
import dev.troupe.plan.planner.StageTimes;
import dev.troupe.plan.profile.Profile;
import dev.troupe.schedule.simulator.StageCost;
import java.util.List;
import java.util.Optional;

/** The figures of machines that follow from the profiles of a model on each of them. */
public final class MeasuredFigures {
    private MeasuredFigures() {
    }

    /**
     * Returns the figures: operations of all layers over the medians of their times, and the speeds of the machines; empty
     * without a profile.
     *
     * @param profiles of each machine, in their order
     * @param known the links, ranks of a machine and memory
     */
    public static Optional<MachineFigures> of(ModelSpec model, List<Profile> profiles, MachineFigures known) {
        if (profiles.isEmpty()) {
            return Optional.empty();
        }
        Profile first = profiles.getFirst();
        PlanGrid grid = new PlanGrid(1, first.setting().tensor(), 1, first.setting().microbatchSize(), 1);
        // The time at one operation a nanosecond.
        double operations = StageTimes.ofOperations(1e9).layers(model, grid, first.setting().sequenceLength()).stream()
                .mapToDouble(MeasuredFigures::nanos).sum();
        double fastest = profiles.stream().mapToDouble(MeasuredFigures::seconds).min().orElseThrow();
        return Optional.of(new MachineFigures(operations / fastest, known.nodeRanks(), known.inside(), known.between(),
                known.memoryBytes(), known.measured(), known.speeds()));
    }

    /** Returns the speed of each machine: the least time of all layers on any of them over its own. */
    public static List<Double> speeds(List<Profile> profiles) {
        double fastest = profiles.stream().mapToDouble(MeasuredFigures::seconds).min().orElseThrow();
        return profiles.stream().map(profile -> fastest / seconds(profile)).toList();
    }

    /** Returns the time of a microbatch in all layers, by the medians of F, I and W. */
    public static double seconds(Profile profile) {
        return profile.units().stream().mapToDouble(unit -> nanos(unit.cost())).sum() / 1e9;
    }

    private static double nanos(StageCost cost) {
        return cost.forwardNanos() + cost.backwardInputNanos() + cost.backwardWeightNanos();
    }
}
