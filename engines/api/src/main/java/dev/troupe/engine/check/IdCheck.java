package dev.troupe.engine.check;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import java.util.Locale;

/**
 * The check of ids before a kernel reads them: an id beyond a table would read foreign memory. It reads the host's copy, so
 * that it does not wait for the engine.
 *
 * <p>Thread rule: the rule of kernels.
 */
final class IdCheck {
    private final Engine engine;

    IdCheck(Engine engine) {
        this.engine = engine;
    }

    /** Refuses ids that are neither below {@code limit} nor {@code NOT_IN_SHARD}. */
    void requireBelow(int limit, Kernel kernel, String name, CheckedTensor tensor) {
        require(limit, Engine.NOT_IN_SHARD, kernel, name, tensor);
    }

    /** The same for targets, which may also be marked as not counted. */
    void requireTargets(int limit, Kernel kernel, String name, CheckedTensor tensor) {
        require(limit, Engine.NOT_COUNTED, kernel, name, tensor);
    }

    private void require(int limit, int least, Kernel kernel, String name, CheckedTensor tensor) {
        if (!engine.holdsValues()) {
            return; // there are none
        }
        int count = tensor.size(0);
        for (int i = 0; i < count; i++) {
            int id = tensor.id(i);
            if (id < least || id >= limit) {
                throw new IllegalArgumentException(String.format(Locale.ROOT,
                        "%s: %s[%d] is %d, but must be from 0 to %d, or %d for elsewhere%s", kernel.method(), name, i,
                        id, limit - 1, Engine.NOT_IN_SHARD,
                        least == Engine.NOT_COUNTED ? String.format(Locale.ROOT, ", or %d for none", least) : ""));
            }
        }
    }

    /** Refuses a beginning of a document that is not in the row's sequence, at or before the row. */
    void requireStarts(int sequenceLength, Kernel kernel, CheckedTensor starts) {
        if (!engine.holdsValues()) {
            return; // there are none
        }
        int count = starts.size(0);
        for (int i = 0; i < count; i++) {
            int place = i % sequenceLength;
            int start = starts.id(i);
            int least = place > 0 ? starts.id(i - 1) : 0;
            if (start < least || start > place) {
                throw new IllegalArgumentException(
                        String.format(Locale.ROOT,
                                "%s: starts[%d] is %d, but must be from %d to %d: a document begins at or "
                                        + "before its row, and",
                                kernel.method(), i, start, least, place)
                                + " after the documents before it");
            }
        }
    }
}
