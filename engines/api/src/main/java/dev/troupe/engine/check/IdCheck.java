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
        if (!engine.holdsValues()) {
            return; // there are none
        }
        int count = tensor.size(0);
        if (ids.length != count) {
            ids = new int[count];
            memory = MemorySegment.ofArray(ids);
        }
        engine.copyToHost(tensor.own(), 0, memory);
        for (int i = 0; i < count; i++) {
            if (ids[i] < 0 && ids[i] != Engine.NOT_IN_SHARD || ids[i] >= limit) {
                throw new IllegalArgumentException("%s: %s[%d] is %d, but must be from 0 to %d, or %d for elsewhere"
                        .formatted(kernel.method(), name, i, ids[i], limit - 1, Engine.NOT_IN_SHARD));
            }
        }
    }
}
