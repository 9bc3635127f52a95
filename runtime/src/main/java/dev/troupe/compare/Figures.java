package dev.troupe.compare;

/**
 * What a schedule costs, predicted or measured.
 *
 * @param stepSeconds
 *            the whole step: plan, reductions and update
 * @param bubbleOverIdeal
 *            idle time of all ranks over the time they compute
 * @param bubbleOverTotal
 *            idle time of all ranks over the time of the plan
 * @param peakActivations
 *            most activations (microbatch x stage) on any rank
 * @param peakBytesInFlight
 *            most bytes made by others for one rank and not yet used by it, over all ranks
 */
public record Figures(double stepSeconds, double bubbleOverIdeal, double bubbleOverTotal, int peakActivations,
        long peakBytesInFlight) {
}
