package dev.troupe.protocol.run;

import dev.troupe.protocol.MessageKeys;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/** Which ranks stand in the present epoch, and what they have received of the pass under way. */
final class EpochBarrier {
    private final BitSet awaited = new BitSet();
    // By the rank that sent it.
    private final Map<Integer, MessageKeys> received = new HashMap<>();

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
    boolean stand(int rank, MessageKeys has) {
        if (!awaited.get(rank)) {
            throw new IllegalStateException("rank " + rank + " stands in this epoch already");
        }
        awaited.clear(rank);
        has.bySender().forEach((sender, keys) -> received.merge(sender, keys, MessageKeys::with));
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
    Map<Integer, MessageKeys> received() {
        return Map.copyOf(received);
    }
}
