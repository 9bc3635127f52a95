package dev.troupe.protocol;

import java.util.Optional;

/**
 * The progress of a node that runs each kind of kernel of its ranks once, before anything is written.
 *
 * @param isOver whether all have run, or one was refused
 * @param seconds the time so far
 * @param longestKernelNanos the time of the longest kernel: the scale by which a rank is taken to hang
 * @param refusal a sentence on the kernel that this machine cannot run
 */
public record WarmUpReport(boolean isOver, double seconds, long longestKernelNanos, Optional<String> refusal) {
    /** The report of a node without kernels: it has no ranks, or an engine that computes nothing. */
    public static final WarmUpReport NOTHING_TO_RUN = new WarmUpReport(true, 0, 0, Optional.empty());
    /** The report of a node that still runs its kernels. */
    public static final WarmUpReport UNDER_WAY = new WarmUpReport(false, 0, 0, Optional.empty());
}
