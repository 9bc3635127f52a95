package dev.troupe.plan.planner;

/**
 * The limits and sizes of a search.
 *
 * @param ranks the most ranks
 * @param memoryBytes the most bytes of a rank; {@link Long#MAX_VALUE} for no limit
 * @param batchSize sequences of a step
 * @param overlapsSteps whether schedules with overlapping steps are candidates: their gradients are of older weights
 * @param top the number of plans that are ranked, 1 or more
 */
public record PlanRequest(int ranks, long memoryBytes, int batchSize, boolean overlapsSteps, int top) {
}
