package dev.troupe.stage;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.TensorPool;
import dev.troupe.shard.StageBuffers;

/**
 * The token table that a model uses at both ends, seen from one stage: one end, both, or none.
 *
 * <p>Thread rule: the engine's thread. A call that does not fit the ends of the stage raises {@link IllegalStateException}.
 */
public final class TiedTable {
    private final int stage;
    private final Engine engine;
    private final TensorPool pool;
    private final StageLayers layers;
    private final StageBuffers buffers;

    TiedTable(int stage, Engine engine, TensorPool pool, StageLayers layers, StageBuffers buffers) {
        this.stage = stage;
        this.engine = engine;
        this.pool = pool;
        this.layers = layers;
        this.buffers = buffers;
    }

    /** Adds the head's gradient to the embedding's, with both ends here, once a step, after its row. */
    public void reduce() {
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

    /**
     * Returns, with one end here, the live gradient [V x C] to send to the stage with the other end: this rank's rows of it,
     * or of shared gradients its share of these in one row. It is copied before {@link #add} changes it.
     */
    public Tensor gradient() {
        return switch (layers.tiedEnd()) {
            case EMBEDDING -> buffers.exchangedGradient(layers.embedding().tokenTable());
            case HEAD -> buffers.exchangedGradient(layers.head().table());
            case BOTH, NONE -> throw new IllegalStateException("stage " + stage + " has " + layers.tiedEnd()
                    + " of a tied token table, but exactly one end was expected");
        };
    }

    /** Returns a buffer for the other end's {@link #gradient}, with any content. Goes back with {@link Stage#release}. */
    public Tensor takeGradient() {
        return pool.takeFloats(gradient().shape());
    }

    /**
     * Adds, with one end here, the other end's {@link #gradient} before any addition to it; the tensor stays the caller's.
     * Both stages sum embedding end plus head end, so that the two copies of the table stay the same bits, and the same as
     * if one stage has both.
     */
    public void add(Tensor other) {
        Tensor own = gradient();
        if (layers.tiedEnd() == TiedEnd.EMBEDDING) {
            engine.add(own, other, own);
        } else {
            engine.add(other, own, own);
        }
    }
}
