package dev.troupe.rows;

import java.util.Arrays;

/**
 * Token ids that a model sees together, and alone.
 *
 * @param ids
 *            at least one, each from 0 to {@link #LARGEST_ID}; not changed from here on
 * @param isCounted
 *            for each id whether the loss counts it as a target; what it says of the first, before which nothing is, has no
 *            effect; not changed from here on
 */
record Document(int[] ids, boolean[] isCounted) {
    /** What fits beside the bit that says whether an id counts. */
    static final int LARGEST_ID = (1 << 30) - 1;

    /** A document in which every id counts. */
    static Document ofText(int[] ids) {
        boolean[] all = new boolean[ids.length];
        Arrays.fill(all, true);
        return new Document(ids, all);
    }

    int length() {
        return ids.length;
    }

    /** How many targets count. */
    int countedTargets() {
        int counted = 0;
        for (int i = 1; i < isCounted.length; i++) {
            counted += isCounted[i] ? 1 : 0;
        }
        return counted;
    }

    /** The ids from one index to before another, with what counts of them. */
    Document part(int from, int to) {
        return new Document(Arrays.copyOfRange(ids, from, to), Arrays.copyOfRange(isCounted, from, to));
    }
}
