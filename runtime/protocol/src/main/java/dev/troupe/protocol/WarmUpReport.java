package dev.troupe.protocol;

import java.util.Optional;

/**
 * The progress of a node in its warm-up of kernels, before any file is written.
 *
 * @param isOver whether all kernels have run, or one was refused
 * @param seconds the time so far
 * @param longestKernelNanos the time of the longest kernel, the measure for how long a rank may pause before it counts as
 *     hanging
 * @param refusal a sentence on the kernel that this machine cannot run
 */
public record WarmUpReport(boolean isOver, double seconds, long longestKernelNanos, Optional<String> refusal) {
    /** The report of a node without kernels to run: it has no ranks, or its engine computes nothing. */
    public static final WarmUpReport NOTHING_TO_RUN = new WarmUpReport(true, 0, 0, Optional.empty());
    /** The report of a node that still runs its kernels. */
    public static final WarmUpReport IN_PROGRESS = new WarmUpReport(false, 0, 0, Optional.empty());
}
