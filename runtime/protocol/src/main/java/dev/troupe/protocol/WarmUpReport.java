package dev.troupe.protocol;

import java.util.Optional;

/**
 * How far a node is with running each kind of kernel of its ranks once, which comes before anything is written.
 *
 * @param isOver whether all have run, or one was refused
 * @param seconds how long it took
 * @param longestKernelNanos how long the longest kernel took: the scale by which a rank is taken to hang
 * @param refusal what this machine cannot run, in a sentence
 */
public record WarmUpReport(boolean isOver, double seconds, long longestKernelNanos, Optional<String> refusal) {
    /** Of a node that has no kernels to run: it has no ranks, or an engine that computes nothing. */
    public static final WarmUpReport NOTHING_TO_RUN = new WarmUpReport(true, 0, 0, Optional.empty());
    /** Of a node that is still at it. */
    public static final WarmUpReport UNDER_WAY = new WarmUpReport(false, 0, 0, Optional.empty());
}
