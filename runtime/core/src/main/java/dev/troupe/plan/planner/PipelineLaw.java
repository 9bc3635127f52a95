package dev.troupe.plan.planner;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.StageCost;

/**
 * The law of a pipeline over slow links: with r the time that a message occupies its link over the time of a forward, a
 * link
 * is busy for r / 3 of the time, since one activation crosses it for each forward and backward, and gradients cross it the
 * other way. A synchronous step that hides messages takes 3 (M + P - 1) + 2 (P - 1) r forwards, against 3 (M + P - 1) on
 * links that take no time. With r above 3 a link is full, and the pipeline is as slow as the link.
 *
 * @param ratio r, of the slowest border
 * @param busyShare the share of the time for which the busiest link is occupied, if the pipeline could keep up
 * @param mostShare the share of the throughput on free links that a synchronous step can reach
 */
public record PipelineLaw(double ratio, double busyShare, double mostShare) {
    /** Returns the law for a plan and its costs. */
    public static PipelineLaw of(PricedPlan priced) {
        Plan plan = priced.plan().training().plan();
        Costs costs = priced.costs();
        double ratio = 0;
        double busy = 0;
        double way = 0;
        double slowest = 0;
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            StageCost cost = costs.stages().get(stage);
            double work = (double) cost.forwardNanos() + cost.fullBackwardNanos();
            slowest = Math.max(slowest, work);
            if (stage < plan.lastStage() && plan.rankOf(stage, 0) != plan.rankOf(stage + 1, 0)) {
                Hop hop = costs.hops().between(plan.rankOf(stage, 0), plan.rankOf(stage + 1, 0));
                double nanos = hop.occupancyNanos(cost.outputBytes());
                ratio = Math.max(ratio, nanos / cost.forwardNanos());
                busy = Math.max(busy, nanos * plan.virtualStages() / work);
                way += 2 * (nanos + hop.latencyNanos());
            }
        }
        double free = slowest * (plan.microbatchCount() + plan.rankCount() - 1);
        return new PipelineLaw(ratio, busy / plan.virtualStages(), free / (free + way));
    }
}
