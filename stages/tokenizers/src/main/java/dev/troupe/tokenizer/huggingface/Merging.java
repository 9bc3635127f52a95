package dev.troupe.tokenizer.huggingface;

import java.util.Arrays;

/**
 * The merges of one word: a linked list of ids, and a heap of the places that may merge, by rank and then by place. One
 * thread at a time.
 *
 * <p>An entry of the heap may be outdated. It remains valid if the pair now at its place becomes the same token, as in
 * Hugging Face's tokenizers. Ids depend on this if two pairs make the same token.
 */
final class Merging {
    private static final int REMOVED = -1;
    private static final int END = -1;

    private final PairTable ranks;
    private final int[] merged;
    private final int[] ids;
    private final int[] before;
    private final int[] after;
    private long[] heap;
    private int heapSize;

    /** Begins with the ids of a word's bytes. */
    Merging(PairTable ranks, int[] merged, int[] ids, int count) {
        this.ranks = ranks;
        this.merged = merged;
        this.ids = Arrays.copyOf(ids, count);
        this.before = new int[count];
        this.after = new int[count];
        this.heap = new long[Math.max(1, count)];
        for (int place = 0; place < count; place++) {
            before[place] = place - 1;
            after[place] = place + 1 < count ? place + 1 : END;
        }
        for (int place = 0; place < count; place++) {
            offer(place);
        }
    }

    /** Merges as far as possible, and returns the remaining ids. */
    int[] run() {
        while (heapSize > 0) {
            long lowest = poll();
            int place = (int) lowest;
            int rank = (int) (lowest >>> 32);
            if (ids[place] == REMOVED || after[place] == END) {
                continue;
            }
            int right = after[place];
            int rankNow = ranks.rank(ids[place], ids[right]);
            if (rankNow == PairTable.NONE || merged[rankNow] != merged[rank]) {
                continue;
            }
            ids[place] = merged[rank];
            ids[right] = REMOVED;
            after[place] = after[right];
            if (after[place] != END) {
                before[after[place]] = place;
            }
            if (before[place] != END) {
                offer(before[place]);
            }
            offer(place);
        }
        int count = 0;
        for (int place = 0; place < ids.length; place++) {
            if (ids[place] != REMOVED) {
                ids[count++] = ids[place];
            }
        }
        return Arrays.copyOf(ids, count);
    }

    /** Adds a place to the heap if its id merges with the next one. */
    private void offer(int place) {
        if (after[place] == END) {
            return;
        }
        int rank = ranks.rank(ids[place], ids[after[place]]);
        if (rank == PairTable.NONE) {
            return;
        }
        if (heapSize == heap.length) {
            heap = Arrays.copyOf(heap, 2 * heapSize);
        }
        long entry = (long) rank << 32 | place;
        int hole = heapSize++;
        while (hole > 0 && heap[hole - 1 >> 1] > entry) {
            heap[hole] = heap[hole - 1 >> 1];
            hole = hole - 1 >> 1;
        }
        heap[hole] = entry;
    }

    private long poll() {
        long lowest = heap[0];
        long last = heap[--heapSize];
        int hole = 0;
        while (2 * hole + 1 < heapSize) {
            int child = 2 * hole + 1;
            child += child + 1 < heapSize && heap[child + 1] < heap[child] ? 1 : 0;
            if (heap[child] >= last) {
                break;
            }
            heap[hole] = heap[child];
            hole = child;
        }
        heap[hole] = last;
        return lowest;
    }
}
