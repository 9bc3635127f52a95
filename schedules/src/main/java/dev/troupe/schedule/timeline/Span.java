package dev.troupe.schedule.timeline;

import dev.troupe.schedule.Action;

/** One action of one rank, from its start to its end, in nanoseconds since the step began. */
public record Span(int rank, Action action, long startNanos, long endNanos) {
    public Span {
        if (rank < 0 || startNanos < 0 || endNanos < startNanos) {
            throw new IllegalArgumentException(action + " on rank " + rank + " cannot last from " + startNanos + " to "
                    + endNanos + " ns: a rank is 0 or more, and an end is not before its start");
        }
    }

    public long nanos() {
        return endNanos - startNanos;
    }
}
