package dev.troupe.look.compare;

/**
 * The figures of a schedule, predicted or measured.
 *
 * @param stepSeconds the whole step: plan, reductions and update
 * @param bubbleOverIdeal idle time of all ranks over the time they compute
 * @param bubbleOverTotal idle time of all ranks over the time of the plan
 * @param peakActivations most activations (microbatch x stage) on any rank
 * @param peakBytesInFlight most bytes that other ranks made for one rank and it has not used yet, over all ranks
 */
public record Figures(double stepSeconds, double bubbleOverIdeal, double bubbleOverTotal, int peakActivations,
        long peakBytesInFlight) {
}
