package dev.troupe.layer;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.cache.CachedRows;

/**
 * The properties of a microbatch that all layers of a stage need in addition to its activation.
 *
 * @param length tokens of each of its sequences, T: at most the run's
 * @param starts for each row of the activation the place in its sequence at which its document begins, INT32 [N]; null if
 *     every sequence is one document. It remains valid until the microbatch's last backward
 * @param texts the texts that the microbatch continues, or null. With texts the microbatch is one sequence of their rows,
 *     and has no backward
 * @param loads the loads of experts, to which layers with experts add; null if nobody counts them
 */
public record MicrobatchContext(int length, DropoutKey dropoutKey, Tensor starts, CachedRows texts,
        ExpertLoads loads) {
    /** Creates the context of a microbatch that continues no text, and of which loads are not counted. */
    public MicrobatchContext(int length, DropoutKey dropoutKey, Tensor starts) {
        this(length, dropoutKey, starts, null, null);
    }

    /** Returns the context of sequences of one document each, without dropout. */
    public static MicrobatchContext plain(int length) {
        return new MicrobatchContext(length, DropoutKey.NONE, null);
    }

    /** Returns the context of rows that continue texts, without dropout. */
    public static MicrobatchContext continuing(CachedRows texts) {
        return new MicrobatchContext(texts.count(), DropoutKey.NONE, null, texts, null);
    }
}
