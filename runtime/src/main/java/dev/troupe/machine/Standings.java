package dev.troupe.machine;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which ranks stand in the present epoch, and what they have received of the pass under way. */
final class Standings {
    private final BitSet awaited = new BitSet();
    // By the rank that sent it.
    private final Map<Integer, List<Parcel>> received = new HashMap<>();

    /** An epoch begins: every rank is to stand in it. */
    void begin(int rankCount) {
        awaited.clear();
        awaited.set(0, rankCount);
        received.clear();
    }

    /**
     * A rank stands.
     *
     * @param has
     *            what it has received of the pass under way
     * @return whether now all do
     * @throws IllegalStateException
     *             where it is not waited for
     */
    boolean stand(int rank, List<Parcel> has) {
        if (!awaited.get(rank)) {
            throw new IllegalStateException("rank " + rank + " stands in this epoch already");
        }
        awaited.clear(rank);
        has.forEach(parcel -> received.computeIfAbsent(parcel.edge().fromRank(), _ -> new ArrayList<>()).add(parcel));
        return awaited.isEmpty();
    }

    /** Whether all ranks stand. */
    boolean isComplete() {
        return awaited.isEmpty();
    }

    /** Whether a rank is still to stand. */
    boolean awaits(int rank) {
        return awaited.get(rank);
    }

    /** What was received, by the rank that sent it. */
    Map<Integer, List<Parcel>> received() {
        return Map.copyOf(received);
    }
}
