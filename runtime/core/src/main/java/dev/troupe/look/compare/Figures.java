package dev.troupe.look.compare;

/**
 * The figures of a schedule, predicted or measured.
 *
 * @param stepSeconds the whole step: plan, reductions and update
 * @param bubbleOverIdeal idle time of all ranks divided by their computing time
 * @param bubbleOverTotal idle time of all ranks divided by the time of the plan
 * @param peakActivations maximum of activations (microbatch x stage) on any rank
 * @param peakBytesInFlight maximum over ranks of the bytes that other ranks made for it, and it has not used yet
 */
public record Figures(double stepSeconds, double bubbleOverIdeal, double bubbleOverTotal, int peakActivations,
        long peakBytesInFlight) {
}
