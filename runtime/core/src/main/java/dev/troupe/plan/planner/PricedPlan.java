package dev.troupe.plan.planner;

import dev.troupe.config.RunSpec;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.memory.RankMemory;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulation;

/**
 * A candidate with its certified plan and its price.
 *
 * @param spec the run that it is
 * @param costs the costs by which it was simulated
 * @param stepNanos the simulated step; of overlapping steps the share of one
 * @param fullest the memory of the rank that needs most
 */
public record PricedPlan(PlanChoice choice, RunSpec spec, TrainingPlan plan, Costs costs, long stepNanos,
        RankMemory fullest) {
    /** Returns the time of a simulated step of a plan, with its credits. */
    static long stepNanos(TrainingPlan plan, Costs costs) {
        Simulation step = plan.training().under(costs);
        return step.makespanNanos() / plan.stepsPerPass(); // rounded down
    }
}
