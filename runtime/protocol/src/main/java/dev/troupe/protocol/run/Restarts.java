package dev.troupe.protocol.run;

import dev.troupe.protocol.Incarnation;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;

/**
 * Which ranks were started when, which of them still have to be told what to do again, and which are doing it. One
 * thread.
 */
final class Restarts {
    // The epoch in which each rank was started last.
    private final int[] startedIn;
    private final BitSet untold = new BitSet();
    private final BitSet repeating = new BitSet();

    Restarts(int rankCount) {
        this.startedIn = new int[rankCount];
    }

    Incarnation last(int rank) {
        return new Incarnation(rank, startedIn[rank]);
    }

    /** Whether it has not been given up since. */
    boolean isCurrent(Incarnation from) {
        return from.epoch() == startedIn[from.rank()];
    }

    /** Whether no rank was started last in this epoch. */
    boolean hasNoneOf(int epoch) {
        return Arrays.stream(startedIn).noneMatch(started -> started == epoch);
    }

    void restart(int rank, int epoch) {
        startedIn[rank] = epoch;
        untold.set(rank);
        repeating.clear(rank);
    }

    /** Those that are not told yet what to do; they are now. */
    List<Integer> takeUntold() {
        List<Integer> ranks = untold.stream().boxed().toList();
        untold.clear();
        return ranks;
    }

    /** These ranks do the pass under way again. */
    void repeat(Collection<Integer> ranks) {
        ranks.forEach(repeating::set);
    }

    boolean isRepeating(int rank) {
        return repeating.get(rank);
    }

    /** A rank has come to where the others are. */
    void hasRepeated(int rank) {
        repeating.clear(rank);
    }

    /** Whether no rank has a pass to do again. */
    boolean isDone() {
        return repeating.isEmpty();
    }
}
