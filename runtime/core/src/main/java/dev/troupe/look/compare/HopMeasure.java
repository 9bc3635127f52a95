package dev.troupe.look.compare;

import dev.troupe.look.figure.MedianOfMeans;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import dev.troupe.schedule.timeline.Transfer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The cost of a message between two ranks in measured steps, from actions that waited only for this message. */
final class HopMeasure {
    private HopMeasure() {
    }

    /**
     * Returns the time from the end of an action to the start of an action on another rank, as {@link MedianOfMeans}. The
     * second action must have waited only for the output of the first. It includes transport and control for all bytes of
     * one message.
     *
     * @param paired the actions of pairs, which are left out: a pair waits for two inputs, and sends its outputs when both
     *     its actions have ended
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

    /** Returns for each span the latest end of the earlier spans on its rank. */
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
