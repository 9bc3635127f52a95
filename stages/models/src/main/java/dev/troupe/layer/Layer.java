package dev.troupe.layer;

import java.util.List;

/** A layer of the model on one stage, or both halves of a block: its parameters, and a {@link Tape} a microbatch. */
public interface Layer {
    /** The parameters that it uses, in the order of the published model, second uses of another layer's parameters too. */
    List<Parameter> parameters();

    /** Whether the backward for the input reads weights. */
    boolean readsWeightsBackwards();

    /** An empty tape; it serves one microbatch after another. */
    Tape newTape();
}
