package dev.troupe.look.compare;

import java.util.List;

/**
 * The control time of an action: from the arrival of the tensor for which a rank waits to the start of the computing.
 *
 * @param count number of measured actions; if it is 0 the times have no meaning
 * @param medianNanos the 50th percentile
 * @param ninetiethNanos the 90th percentile
 * @param ninetyNinthNanos the 99th percentile
 */
public record ControlTime(int count, long medianNanos, long ninetiethNanos, long ninetyNinthNanos) {
    static ControlTime of(List<Long> nanos) {
        List<Long> sorted = nanos.stream().sorted().toList();
        return sorted.isEmpty()
                ? new ControlTime(0, 0, 0, 0)
                : new ControlTime(sorted.size(), percentile(sorted, 50), percentile(sorted, 90),
                        percentile(sorted, 99));
    }

    /** Returns the smallest value that a percentage of the values does not exceed. */
    private static long percentile(List<Long> sorted, int percent) {
        return sorted.get(Math.max(0, Math.ceilDiv(sorted.size() * percent, 100) - 1));
    }
}
