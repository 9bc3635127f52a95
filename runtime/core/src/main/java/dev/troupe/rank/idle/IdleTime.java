package dev.troupe.rank.idle;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The idle time of a step: every gap of every rank, parted by cause. The computing and the gaps of a rank add up to the time
 * from {@link StepTimes#fromNanos} to {@link StepTimes#endNanos}.
 *
 * @param gaps the gaps, by rank and then by their beginning
 */
public record IdleTime(List<Gap> gaps) {
    /**
     * Parts the idle time of a step.
     *
     * @param usual the usual times of actions and messages; {@link Usual#UNKNOWN} for the medians of the step itself
     */
    public static IdleTime of(StepTimes step, Usual usual) {
        Usual known = usual == Usual.UNKNOWN ? usual.with(step) : usual;
        Walk walk = new Walk(step, known);
        PlannedGaps planned = new PlannedGaps(known.planned(step));
        List<Gap> gaps = new ArrayList<>();
        long end = step.endNanos();
        int lastRank = step.ranks().stream().filter(times -> step.last(times.rank()) >= 0)
                .max(Comparator.comparingLong(times -> times.endNanos(step.last(times.rank()))))
                .map(RankTimes::rank).orElse(-1);
        for (RankTimes times : step.ranks()) {
            int place = times.rank() / step.rows().ranksPerPlace();
            long from = step.fromNanos();
            int length = step.rows().row(times.rank()).size();
            for (int position = 0; position < length; position++) {
                if (!times.did(position)) {
                    continue;
                }
                long start = times.startNanos(position);
                if (start > from) {
                    int before = position;
                    add(gaps, times.rank(), position, false, from, planned.settle(place, position,
                            walk.before(times.rank(), position, from, start),
                            () -> walk.before(times.rank(), before, step.fromNanos(), start)));
                }
                add(gaps, times.rank(), position, true, start, walk.inside(times.rank(), position));
                from = Math.max(from, times.endNanos(position));
            }
            if (lastRank >= 0 && from < end) {
                add(gaps, times.rank(), length, false, from, step.last(times.rank()) < 0
                        ? List.of(new IdlePart(Cause.UNKNOWN, end - from, times.rank(), null))
                        : planned.settle(place, length, walk.behind(from, lastRank, end),
                                () -> walk.behind(step.fromNanos(), lastRank, end)));
            }
        }
        return new IdleTime(List.copyOf(gaps));
    }

    private static void add(List<Gap> gaps, int rank, int position, boolean isInside, long from,
            List<IdlePart> parts) {
        if (!parts.isEmpty()) {
            gaps.add(new Gap(rank, position, isInside, from, parts.stream().mapToLong(IdlePart::nanos).sum(), parts));
        }
    }

    /** Returns the nanoseconds of each cause in the gaps of one rank. */
    public Map<Cause, Long> byCause(int rank) {
        Map<Cause, Long> sums = new EnumMap<>(Cause.class);
        gaps.stream().filter(gap -> gap.rank() == rank).flatMap(gap -> gap.parts().stream())
                .forEach(part -> sums.merge(part.cause(), part.nanos(), Long::sum));
        return sums;
    }

    /** Returns the nanoseconds of each cause in the gaps of all ranks. */
    public Map<Cause, Long> byCause() {
        Map<Cause, Long> sums = new EnumMap<>(Cause.class);
        gaps.stream().flatMap(gap -> gap.parts().stream())
                .forEach(part -> sums.merge(part.cause(), part.nanos(), Long::sum));
        return sums;
    }

    /** Returns the nanoseconds of a cause in the gaps of all ranks, by the rank at the root. */
    public Map<Integer, Long> byRoot(Cause cause) {
        Map<Integer, Long> sums = new TreeMap<>();
        gaps.stream().flatMap(gap -> gap.parts().stream()).filter(part -> part.cause() == cause)
                .forEach(part -> sums.merge(part.rank(), part.nanos(), Long::sum));
        return sums;
    }
}
