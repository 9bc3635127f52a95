package dev.troupe.store;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The keys of a store in segments of equal size, which are placed on the ring each as a whole.
 *
 * @param keyCount the keys, from 0 on
 * @param segmentKeys keys of each segment; the last may have fewer
 * @param workers the workers that push, from 0 on
 * @param copies the servers of a segment, its owner included
 * @param virtualNodes the points of each server on the ring
 */
public record StoreLayout(long keyCount, int segmentKeys, int workers, int copies, int virtualNodes) {
    /** The owner and the next two servers: two neighbours may fail at a time. */
    public static final int USUAL_COPIES = 3;

    public StoreLayout {
        if (keyCount < 1 || segmentKeys < 1 || workers < 1 || copies < 1) {
            throw new IllegalArgumentException("a store has at least one key, segment, worker and copy, but found "
                    + keyCount + ", " + segmentKeys + ", " + workers + " and " + copies);
        }
    }

    /** Returns the number of segments, rounded up. */
    public int segmentCount() {
        return Math.toIntExact(Math.ceilDiv(keyCount, segmentKeys));
    }

    public KeyRange range(int segment) {
        long first = (long) segment * segmentKeys;
        return new KeyRange(first, Math.min(keyCount, first + segmentKeys));
    }

    /** Returns the segments that have keys of a range, ascending. */
    public List<Integer> segmentsOf(KeyRange range) {
        return IntStream.rangeClosed((int) (range.first() / segmentKeys), (int) ((range.end() - 1) / segmentKeys))
                .boxed()
                .toList();
    }

    /** Returns for each segment its servers: the owner, and then those with copies, in the order of the chain. */
    public List<List<Integer>> chains(StoreView view) {
        HashRing ring = new HashRing(view.servers(), virtualNodes);
        List<List<Integer>> chains = new ArrayList<>();
        for (int segment = 0; segment < segmentCount(); segment++) {
            chains.add(ring.holders(segment, copies));
        }
        return chains;
    }
}
