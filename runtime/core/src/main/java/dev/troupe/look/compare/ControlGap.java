package dev.troupe.look.compare;

import dev.troupe.look.figure.MedianOfMeans;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import dev.troupe.schedule.timeline.Transfer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The time of a rank's own control between two actions in measured steps, if the second one does not wait for a message. */
final class ControlGap {
    private ControlGap() {
    }

    /**
     * Returns the time from the end of an action to the start of the next on its rank, as {@link MedianOfMeans}; 0 if there
     * is none. Only actions count with an input that was made before the earlier action began, or that comes from the same
     * rank.
     *
     * @param paired the actions of pairs, which are left out since a pair waits for two inputs
     */
    static long nanos(List<Timeline> measured, Set<Action> paired) {
        MedianOfMeans gap = new MedianOfMeans();
        for (Timeline step : measured) {
            List<Long> gaps = new ArrayList<>();
            Map<Span, Long> inputMade = new HashMap<>();
            for (Transfer transfer : step.transfers()) {
                inputMade.put(transfer.user(), transfer.maker().endNanos());
            }
            for (int rank = 0; rank < step.rankCount(); rank++) {
                List<Span> spans = step.spansOf(rank);
                for (int index = 1; index < spans.size(); index++) {
                    Span before = spans.get(index - 1);
                    Span next = spans.get(index);
                    if (!paired.contains(next.action())
                            && inputMade.getOrDefault(next, Long.MIN_VALUE) < before.startNanos()) {
                        gaps.add(next.startNanos() - before.endNanos());
                    }
                }
            }
            gap.add(gaps);
        }
        return gap.isEmpty() ? 0 : Math.max(0, gap.nanos());
    }
}
