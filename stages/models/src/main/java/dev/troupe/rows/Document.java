package dev.troupe.rows;

import java.util.Arrays;
import java.util.List;

/**
 * A document: token ids that attend to each other only.
 *
 * @param ids at least one, each from 0 to {@link #LARGEST_ID}; must not change afterwards
 * @param isCounted for each id whether the loss counts it as a target; without effect for the first id; must not change
 *     afterwards
 */
record Document(int[] ids, boolean[] isCounted) {
    /** The largest id: one bit of an int marks whether the id counts. */
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

    /** Returns the ids in a range, with their marks. */
    Document between(int from, int to) {
        return new Document(Arrays.copyOfRange(ids, from, to), Arrays.copyOfRange(isCounted, from, to));
    }
}
