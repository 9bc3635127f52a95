package dev.troupe.rows;

import java.util.Arrays;
import java.util.List;

/**
 * Token ids that a model sees together, without others.
 *
 * @param ids at least one, each from 0 to {@link #LARGEST_ID}; not changed from here on
 * @param isCounted for each id whether the loss counts it as a target; of the first, which no id precedes, it has no effect;
 *     not changed from here on
 */
record Document(int[] ids, boolean[] isCounted) {
    /** The largest number that fits next to the bit for whether an id counts. */
    static final int LARGEST_ID = (1 << 30) - 1;

    /**
     * Ids in a row, all or none of which count.
     *
     * @param ids maybe none
     */
    record Part(int[] ids, boolean isCounted) {
    }

    static Document of(List<Part> parts) {
        int length = parts.stream().mapToInt(part -> part.ids().length).sum();
        int[] ids = new int[length];
        boolean[] isCounted = new boolean[length];
        int at = 0;
        for (Part part : parts) {
            System.arraycopy(part.ids(), 0, ids, at, part.ids().length);
            Arrays.fill(isCounted, at, at + part.ids().length, part.isCounted());
            at += part.ids().length;
        }
        return new Document(ids, isCounted);
    }

    int length() {
        return ids.length;
    }

    int countedTargets() {
        int counted = 0;
        for (int i = 1; i < isCounted.length; i++) {
            counted += isCounted[i] ? 1 : 0;
        }
        return counted;
    }

    /** Returns the ids from one index to before another, and whether each counts. */
    Document between(int from, int to) {
        return new Document(Arrays.copyOfRange(ids, from, to), Arrays.copyOfRange(isCounted, from, to));
    }
}
