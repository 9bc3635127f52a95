package dev.troupe.plan.planner;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.StageCost;
import java.util.Arrays;

/**
 * The law of a pipeline over slow links. Let r be the time for which a message occupies its link over the time of a
 * forward. A link is busy for r / 3 of the time in each direction, since one activation and one gradient cross it for each
 * forward and backward. A synchronous step of one stage per rank that hides its messages takes
 * 3 (M + P - 1) + 2 (P - 1) r forwards, against 3 (M + P - 1) on free links. With V stages per rank, M V replaces M, and
 * only the first P - 1 borders delay the step. With r above 3 a link is full, and the pipeline is as slow as the link.
 *
 * <p>Stages of one rank count together, since they may differ: r is over the mean forward of a stage, and a link carries
 * the messages of all of its borders.
 *
 * @param ratio r, of the slowest border
 * @param busyShare the share of the time for which the busiest link is occupied, if the pipeline could keep up
 * @param mostShare the share of the throughput on free links that a synchronous step can reach
 */
public record PipelineLaw(double ratio, double busyShare, double mostShare) {
    /** Returns the law for a plan and its costs. */
    public static PipelineLaw of(Plan plan, Costs costs) {
        double forward = costs.stages().stream().mapToLong(StageCost::forwardNanos).average().orElseThrow();
        double[] work = new double[plan.rankCount()];
        double[][] busy = new double[plan.rankCount()][plan.rankCount()];
        double ratio = 0;
        double way = 0;
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            StageCost cost = costs.stages().get(stage);
            int rank = plan.rankOf(stage, 0);
            work[rank] += (double) cost.forwardNanos() + cost.fullBackwardNanos();
            if (stage == plan.lastStage() || rank == plan.rankOf(stage + 1, 0)) {
                continue;
            }
            int next = plan.rankOf(stage + 1, 0);
            Hop hop = costs.hops().between(rank, next);
            double nanos = hop.occupancyNanos(cost.outputBytes());
            ratio = Math.max(ratio, nanos / forward);
            busy[rank][next] += nanos;
            busy[next][rank] += nanos;
            if (stage < plan.rankCount() - 1) {
                way += 2 * (nanos + hop.latencyNanos());
            }
        }
        double slowest = Arrays.stream(work).max().orElseThrow();
        double busiest = Arrays.stream(busy).flatMapToDouble(Arrays::stream).max().orElseThrow();
        double free = slowest * (plan.microbatchCount() + (plan.rankCount() - 1.0) / plan.virtualStages());
        return new PipelineLaw(ratio, busiest / slowest, free / (free + way));
    }
}
