package dev.troupe.layer;

import dev.troupe.engine.Tensor;

/**
 * What all layers of a stage need of a microbatch beside its activation.
 *
 * @param dropoutKey
 *            of its dropout
 * @param starts
 *            for each row of the activation the place in its sequence at which its document begins, INT32 [N]; null where
 *            every sequence is one document. The stage has it until the microbatch's last backward
 */
public record MicrobatchContext(DropoutKey dropoutKey, Tensor starts) {
    /** A microbatch of sequences that are one document each, of which nothing drops out. */
    public static final MicrobatchContext PLAIN = new MicrobatchContext(DropoutKey.NONE, null);
}
