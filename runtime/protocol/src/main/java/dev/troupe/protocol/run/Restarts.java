package dev.troupe.protocol.run;

import dev.troupe.protocol.Incarnation;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;

/**
 * The epoch in which each rank was started, the ranks that have no order to repeat yet, and those that repeat. One thread.
 */
final class Restarts {
    private final int[] startedIn;
    private final BitSet untold = new BitSet();
    private final BitSet repeating = new BitSet();
    private final int term;

    Restarts(int rankCount, int term) {
        this.startedIn = new int[rankCount];
        this.term = term;
    }

    Incarnation last(int rank) {
        return new Incarnation(rank, startedIn[rank], term);
    }

    /** Returns whether the incarnation is of this coordinator and has not been given up. */
    boolean isCurrent(Incarnation from) {
        return from.equals(last(from.rank()));
    }

    /** Returns whether no rank was started last in this epoch. */
    boolean hasNoneOf(int epoch) {
        return Arrays.stream(startedIn).noneMatch(started -> started == epoch);
    }

    void restart(int rank, int epoch) {
        startedIn[rank] = epoch;
        untold.set(rank);
        repeating.clear(rank);
    }

    /** Returns the restarted ranks that have no order to repeat yet, and counts the order as given. */
    List<Integer> takeUntold() {
        List<Integer> ranks = untold.stream().boxed().toList();
        untold.clear();
        return ranks;
    }

    void repeat(Collection<Integer> ranks) {
        ranks.forEach(repeating::set);
    }

    boolean isRepeating(int rank) {
        return repeating.get(rank);
    }

    /** Takes note that a rank has caught up with the others. */
    void hasRepeated(int rank) {
        repeating.clear(rank);
    }

    /** Returns whether no rank has a pass to repeat. */
    boolean isDone() {
        return repeating.isEmpty();
    }
}
