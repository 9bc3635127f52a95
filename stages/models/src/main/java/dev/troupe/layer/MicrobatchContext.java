package dev.troupe.layer;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.cache.KeyValueCache;

/**
 * What all layers of a stage need of a microbatch beside its activation.
 *
 * @param length tokens of each of its sequences, T: at most those of a sequence of the run
 * @param dropoutKey of its dropout
 * @param starts for each row of the activation the place in its sequence at which its document begins, INT32 [N]; null
 *     if every sequence is one document. The stage has it until the microbatch's last backward
 * @param cache if the keys and values of the rows go, which continue the text that it has; then the microbatch is
 *     one sequence, of one row unless the cache is empty, and has no backward. Null if each microbatch stands alone
 */
public record MicrobatchContext(int length, DropoutKey dropoutKey, Tensor starts, KeyValueCache cache) {
    /** A microbatch that continues no text. */
    public MicrobatchContext(int length, DropoutKey dropoutKey, Tensor starts) {
        this(length, dropoutKey, starts, null);
    }

    /** A microbatch of sequences that are one document each, of which nothing drops out. */
    public static MicrobatchContext plain(int length) {
        return new MicrobatchContext(length, DropoutKey.NONE, null);
    }

    /** {@code length} rows that continue a text, of which nothing drops out. */
    public static MicrobatchContext continuing(int length, KeyValueCache cache) {
        return new MicrobatchContext(length, DropoutKey.NONE, null, cache);
    }

    /** Returns the place in its sequence that the first row has. */
    public int firstPlace() {
        return cache == null ? 0 : cache.length();
    }
}
