package dev.troupe.protocol.run;

import dev.troupe.protocol.FixedOrder;
import dev.troupe.protocol.MessageKeys;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/** The ranks that are ready in the current epoch, and the messages of the pass in progress that they have received. */
final class EpochBarrier {
    private final BitSet awaited = new BitSet();
    // By sender.
    private final Map<Integer, MessageKeys> received = new HashMap<>();

    void begin(int rankCount) {
        awaited.clear();
        awaited.set(0, rankCount);
        received.clear();
    }

    /**
     * Records that a rank is ready.
     *
     * @param has the messages of the pass in progress that the rank has received
     * @return whether all ranks are ready
     * @throws IllegalStateException if the rank was ready before
     */
    boolean ready(int rank, MessageKeys has) {
        if (!awaited.get(rank)) {
            throw new IllegalStateException("rank " + rank + " is ready in this epoch already");
        }
        awaited.clear(rank);
        has.bySender().forEach((sender, keys) -> received.merge(sender, keys, MessageKeys::with));
        return awaited.isEmpty();
    }

    boolean isComplete() {
        return awaited.isEmpty();
    }

    boolean awaits(int rank) {
        return awaited.get(rank);
    }

    Map<Integer, MessageKeys> received() {
        return FixedOrder.copyOf(received);
    }
}
