package dev.troupe.layer;

import java.util.List;

/** A layer of a stage, which may be both halves of a block: its parameters, and a {@link Tape} for each microbatch. */
public interface Layer {
    /** Returns its parameters, in the order of the published model, including second uses of another layer's parameters. */
    List<Parameter> parameters();

    boolean readsWeightsBackwards();

    /** Returns an empty tape; it serves one microbatch after another. */
    Tape newTape();
}
