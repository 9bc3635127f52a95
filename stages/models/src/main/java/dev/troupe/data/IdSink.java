package dev.troupe.data;

import java.io.IOException;

/** Takes token ids in the order of the text. */
interface IdSink {
    /**
     * Adds ids, each at least 0.
     *
     * @param count
     *            how many of the array to add, from its beginning
     * @throws IOException
     *             where they cannot be kept
     */
    void append(int[] ids, int count) throws IOException;

    /** Adds all ids of an array. */
    default void append(int[] ids) throws IOException {
        append(ids, ids.length);
    }
}
