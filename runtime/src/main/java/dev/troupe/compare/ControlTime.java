package dev.troupe.compare;

import java.util.List;

/**
 * What the control of one action costs: from the landing of the tensor a rank waits for to the start of the computing.
 *
 * @param count
 *            actions that were measured; where it is 0 the times mean nothing
 * @param medianNanos
 *            half of them take no longer
 * @param ninetiethNanos
 *            nine in ten take no longer
 * @param ninetyNinthNanos
 *            ninety-nine in a hundred take no longer
 */
public record ControlTime(int count, long medianNanos, long ninetiethNanos, long ninetyNinthNanos) {
    static ControlTime of(List<Long> nanos) {
        List<Long> sorted = nanos.stream().sorted().toList();
        return sorted.isEmpty()
                ? new ControlTime(0, 0, 0, 0)
                : new ControlTime(sorted.size(), percentile(sorted, 50), percentile(sorted, 90),
                        percentile(sorted, 99));
    }

    /** The smallest value that so many in a hundred do not exceed. */
    private static long percentile(List<Long> sorted, int percent) {
        return sorted.get(Math.max(0, Math.ceilDiv(sorted.size() * percent, 100) - 1));
    }
}
