package dev.troupe.look.compare;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;

/** The time of the decision on a step, in measured steps. */
final class DecisionGap {
    private DecisionGap() {
    }

    /** Returns the time from the end of the last norm to the start of the first update: the median of the steps, or 0. */
    static long nanos(List<Timeline> measured) {
        List<Long> gaps = measured.stream().map(DecisionGap::nanos).sorted().toList();
        return gaps.isEmpty() ? 0 : gaps.get(gaps.size() / 2);
    }

    private static long nanos(Timeline step) {
        long measuredAt = times(step, Kind.NORM, Span::endNanos).max().orElse(0);
        return Math.max(0, times(step, Kind.UPDATE, Span::startNanos).min().orElse(0) - measuredAt);
    }

    private static LongStream times(Timeline step, Kind kind, ToLongFunction<Span> time) {
        return step.spans().stream().filter(span -> span.action().kind() == kind).mapToLong(time);
    }
}
