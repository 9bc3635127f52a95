package dev.troupe.stage;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.shard.StageBuffers;

/** The table that a model uses at both ends, as one stage has it: one end, both, or none. */
final class TiedTable {
    private final int stage;
    private final Engine engine;
    private final StageLayers layers;
    private final StageBuffers buffers;

    TiedTable(int stage, Engine engine, StageLayers layers, StageBuffers buffers) {
        this.stage = stage;
        this.engine = engine;
        this.layers = layers;
        this.buffers = buffers;
    }

    /** With both ends here: adds the head end's gradient to the embedding end's. */
    void reduce() {
        if (layers.tiedEnd() != TiedEnd.BOTH) {
            throw new IllegalStateException("stage " + stage + " has " + layers.tiedEnd()
                    + " of a tied token table, but " + TiedEnd.BOTH + " was expected");
        }
        if (!buffers.hasSecondGradient()) {
            return; // both ends have added to the same sums
        }
        Tensor sum = layers.embedding().tokenTable().gradient();
        engine.add(sum, layers.head().table().gradient(), sum);
    }

    /** With one end here: its gradient, or where gradients are shared out this rank's share of it. */
    Tensor gradient() {
        return switch (layers.tiedEnd()) {
            case EMBEDDING -> buffers.exchangedGradient(layers.embedding().tokenTable());
            case HEAD -> buffers.exchangedGradient(layers.head().table());
            case BOTH, NONE -> throw new IllegalStateException("stage " + stage + " has " + layers.tiedEnd()
                    + " of a tied token table, but exactly one end was expected");
        };
    }

    /** With one end here: adds the other's gradient, on every stage in the same order. */
    void add(Tensor other) {
        Tensor own = gradient();
        if (layers.tiedEnd() == TiedEnd.EMBEDDING) {
            engine.add(own, other, own);
        } else {
            engine.add(other, own, own);
        }
    }
}
