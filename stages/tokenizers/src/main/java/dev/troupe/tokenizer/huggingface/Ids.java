package dev.troupe.tokenizer.huggingface;

import java.util.Arrays;

/** A list of ids that grows. One thread at a time. */
final class Ids {
    private static final int FIRST = 256;

    private int[] ids = new int[FIRST];
    private int count;

    void add(int id) {
        if (count == ids.length) {
            ids = Arrays.copyOf(ids, 2 * count);
        }
        ids[count++] = id;
    }

    void add(int[] more) {
        if (count + more.length > ids.length) {
            ids = Arrays.copyOf(ids, Math.max(2 * count, count + more.length));
        }
        System.arraycopy(more, 0, ids, count, more.length);
        count += more.length;
    }

    int[] toArray() {
        return Arrays.copyOf(ids, count);
    }
}
