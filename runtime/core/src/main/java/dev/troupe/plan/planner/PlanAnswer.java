package dev.troupe.plan.planner;

import dev.troupe.plan.profile.StepInterval;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The result of a search.
 *
 * @param best the plans with the shortest predicted steps, the shortest first
 * @param intervals the interval of each predicted step; none if the costs are assumed
 * @param withoutPipeline the best plan with one stage; empty if none fits
 * @param refused the refused candidates by kind
 */
public record PlanAnswer(List<PricedPlan> best, Map<PlanChoice, StepInterval> intervals,
        Optional<PricedPlan> withoutPipeline,
        Map<PlanRefusals.Kind, PlanRefusals.Refusal> refused, Cost cost) {
    public PlanAnswer {
        best = List.copyOf(best);
        intervals = Map.copyOf(intervals);
        refused = Map.copyOf(refused);
    }

    /**
     * The cost of a search.
     *
     * @param grids grids that were opened, of all
     * @param candidates candidates with a bound
     * @param certified candidates that were lowered and certified
     * @param simulated candidates with a simulated step
     * @param sized candidates with announced memory
     */
    public record Cost(int grids, int allGrids, long candidates, int certified, int simulated, int sized,
            double seconds) {
    }
}
