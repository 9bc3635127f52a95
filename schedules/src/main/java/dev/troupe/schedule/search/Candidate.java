package dev.troupe.schedule.search;

import dev.troupe.schedule.Plan;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One answer to a {@link PlanningProblem}: rows, borders and placement.
 *
 * @param plan the computing actions of one step; sends and receives are not in it
 * @param borders the units of each stage
 * @param machines for each rank the index of its machine, no machine twice
 */
public record Candidate(Plan plan, Borders borders, List<Integer> machines) {
    public Candidate {
        machines = List.copyOf(machines);
        if (borders.sizes().size() != plan.stageCount() || machines.size() != plan.rankCount()
                || machines.stream().distinct().count() != machines.size()) {
            throw new IllegalArgumentException("plan \"" + plan.name() + "\" has " + plan.stageCount() + " stages and "
                    + plan.rankCount() + " ranks, but the borders are " + borders.sizes() + " and the machines "
                    + machines);
        }
    }

    /** Creates a candidate with rank r on machine r. */
    public Candidate(Plan plan, Borders borders) {
        this(plan, borders, IntStream.range(0, plan.rankCount()).boxed().toList());
    }

    public Candidate with(Borders others) {
        return new Candidate(plan, others, machines);
    }

    public Candidate with(List<Integer> others) {
        return new Candidate(plan, borders, others);
    }

    public Candidate with(Plan other) {
        return new Candidate(other, borders, machines);
    }
}
