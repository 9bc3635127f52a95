package dev.troupe.data;

import java.io.IOException;

/** A receiver of a sequence of token ids or other numbers. */
public interface IdSink {
    /**
     * Adds numbers, each at least 0.
     *
     * @param count the number to add, from the beginning of the array
     * @throws IOException if they cannot be kept
     */
    void append(int[] ids, int count) throws IOException;

    /**
     * Adds all numbers of an array.
     *
     * @throws IOException if they cannot be kept
     */
    default void append(int[] ids) throws IOException {
        append(ids, ids.length);
    }
}
