package dev.troupe.model;

import java.util.List;

/** One layer of the model on one stage: its parameters, and a {@link Tape} for each microbatch under way. */
sealed interface Layer permits EmbeddingLayer, Block, HeadLayer {
    /** The layer's number in the model. */
    int number();

    /** What is trained, in the order of the published model. */
    List<Parameter> parameters();

    /** An empty tape; it serves one microbatch after another. */
    Tape newTape();
}
