package dev.troupe.compare;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.timeline.Transfer;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a message between two ranks cost in measured steps, read off where a rank waited for one and nothing else. */
final class HopMeasure {
    private HopMeasure() {
    }

    /**
     * The time from the end of an action to the start of the one that was waiting for its output, on another rank that had
     * nothing else to do; the {@link MedianOfMeans} of the steps. It has transport and control in it, and all bytes of one
     * message.
     *
     * @param paired
     *            the actions that make pairs, which tell nothing: a pair waits for two inputs, and hands its outputs on when
     *            both its actions have ended
     */
    static Hop of(List<Timeline> measured, Set<Action> paired) {
        MedianOfMeans hop = new MedianOfMeans();
        for (Timeline step : measured) {
            List<Long> waits = new ArrayList<>();
            Map<Span, Long> freeSince = freeSince(step);
            for (Transfer transfer : step.transfers()) {
                if (paired.contains(transfer.maker().action()) || paired.contains(transfer.user().action())) {
                    continue;
                }
                long left = transfer.maker().endNanos();
                if (freeSince.get(transfer.user()) <= left && transfer.user().startNanos() >= left) {
                    waits.add(transfer.user().startNanos() - left);
                }
            }
            hop.add(waits);
        }
        return hop.isEmpty() ? Hop.FREE : new Hop(hop.nanos(), Double.POSITIVE_INFINITY);
    }

    /** When the rank of each span had done all that it did before it. */
    private static Map<Span, Long> freeSince(Timeline step) {
        Map<Span, Long> freeSince = new HashMap<>();
        long[] end = new long[step.rankCount()];
        for (Span span : step.spans()) {
            freeSince.put(span, end[span.rank()]);
            end[span.rank()] = Math.max(end[span.rank()], span.endNanos());
        }
        return freeSince;
    }
}
