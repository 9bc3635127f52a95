package dev.troupe.protocol.run;

import dev.troupe.protocol.Incarnation;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;

/**
 * The restarts of the ranks: the epoch of each rank's last start, the ranks that lack their order, and the ranks that repeat
 * the pass. One thread.
 */
final class Restarts {
    private final int[] startedIn;
    private final BitSet unordered = new BitSet();
    private final BitSet repeating = new BitSet();
    private final int term;

    Restarts(int rankCount, int term) {
        this.startedIn = new int[rankCount];
        this.term = term;
    }

    Incarnation last(int rank) {
        return new Incarnation(rank, startedIn[rank], term);
    }

    boolean isCurrent(Incarnation from) {
        return from.equals(last(from.rank()));
    }

    /** Returns whether this epoch is not the start of any current incarnation. */
    boolean hasNoneOf(int epoch) {
        return Arrays.stream(startedIn).noneMatch(started -> started == epoch);
    }

    void restart(int rank, int epoch) {
        startedIn[rank] = epoch;
        unordered.set(rank);
        repeating.clear(rank);
    }

    /** Returns the restarted ranks that have not received their order again, and counts the order as given. */
    List<Integer> takeUnordered() {
        List<Integer> ranks = unordered.stream().boxed().toList();
        unordered.clear();
        return ranks;
    }

    void repeat(Collection<Integer> ranks) {
        ranks.forEach(repeating::set);
    }

    boolean isRepeating(int rank) {
        return repeating.get(rank);
    }

    void hasRepeated(int rank) {
        repeating.clear(rank);
    }

    /** Returns whether no rank repeats the pass. */
    boolean isDone() {
        return repeating.isEmpty();
    }
}
