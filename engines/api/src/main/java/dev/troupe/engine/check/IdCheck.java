package dev.troupe.engine.check;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import java.lang.foreign.MemorySegment;

/**
 * A check of ids before a kernel reads them: an id that is no row of a table would lead beyond the table.
 *
 * <p>Thread rule: that of kernels.
 */
final class IdCheck {
    private final Engine engine;
    private int[] ids = {};
    private MemorySegment memory = MemorySegment.ofArray(ids);

    IdCheck(Engine engine) {
        this.engine = engine;
    }

    /** Refuses ids that are neither a row of a table of so many rows nor elsewhere. */
    void requireBelow(int limit, Kernel kernel, String name, CheckedTensor tensor) {
        require(limit, Engine.NOT_IN_SHARD, kernel, name, tensor);
    }

    /** The same of targets, which may also not count. */
    void requireTargets(int limit, Kernel kernel, String name, CheckedTensor tensor) {
        require(limit, Engine.NOT_COUNTED, kernel, name, tensor);
    }

    private void require(int limit, int least, Kernel kernel, String name, CheckedTensor tensor) {
        if (!engine.holdsValues()) {
            return; // there are none
        }
        int count = read(tensor);
        for (int i = 0; i < count; i++) {
            if (ids[i] < least || ids[i] >= limit) {
                throw new IllegalArgumentException("%s: %s[%d] is %d, but must be from 0 to %d, or %d for elsewhere%s"
                        .formatted(kernel.method(), name, i, ids[i], limit - 1, Engine.NOT_IN_SHARD,
                                least == Engine.NOT_COUNTED ? ", or %d for none".formatted(least) : ""));
            }
        }
    }

    /** Refuses places of a document's beginning that are not in the row's sequence, up to the row itself. */
    void requireStarts(int sequenceLength, Kernel kernel, CheckedTensor starts) {
        if (!engine.holdsValues()) {
            return; // there are none
        }
        int count = read(starts);
        for (int i = 0; i < count; i++) {
            int place = i % sequenceLength;
            if (ids[i] < 0 || ids[i] > place || place > 0 && ids[i] < ids[i - 1]) {
                throw new IllegalArgumentException(
                        "%s: starts[%d] is %d, but must be from %d to %d: a document begins at or before its row, and"
                                .formatted(kernel.method(), i, ids[i], place > 0 ? ids[i - 1] : 0, place)
                                + " after the documents before it");
            }
        }
    }

    /** Fetches the ids; returns how many there are. */
    private int read(CheckedTensor tensor) {
        int count = tensor.size(0);
        if (ids.length != count) {
            ids = new int[count];
            memory = MemorySegment.ofArray(ids);
        }
        engine.copyToHost(tensor.own(), 0, memory);
        return count;
    }
}
