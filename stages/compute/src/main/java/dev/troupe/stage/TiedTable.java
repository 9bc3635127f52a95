package dev.troupe.stage;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.TensorPool;
import dev.troupe.shard.StageBuffers;
import java.util.List;

/**
 * A stage's view of the token table that a model uses at both ends: one end, both, or none.
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

    /** Prepares the gradients of this stage's ends for {@link #reduce}, {@link #gradient} and {@link #add}, once a step. */
    public void addUp() {
        buffers.layerShares().addUpShared(
                buffers.hasSecondGradient() ? List.of(layers.head().table().gradient()) : List.of());
    }

    /** Adds the head's gradient to the embedding's if this stage has both ends; once a step, after its row. */
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
     * Returns, if this stage has one end, the live gradient [V x C] for the stage with the other end: this rank's rows, or
     * with divided gradients its share in one row. The caller copies it before {@link #add} changes it.
     */
    public Tensor gradient() {
        return switch (layers.tiedEnd()) {
            case EMBEDDING -> buffers.exchangedGradient(layers.embedding().tokenTable());
            case HEAD -> buffers.exchangedGradient(layers.head().table());
            case BOTH, NONE -> throw new IllegalStateException("stage " + stage + " has " + layers.tiedEnd()
                    + " of a tied token table, but exactly one end was expected");
        };
    }

    /**
     * Returns a buffer for the other end's {@link #gradient}, with any content, for {@link BoundaryTensors#release}.
     */
    public Tensor takeGradient() {
        return pool.takeFloats(gradient().shape());
    }

    /**
     * Adds the other end's {@link #gradient}, as it was before any addition; the tensor remains the caller's. Both stages
     * compute embedding end plus head end, so that both copies of the table have the same bits, as on one stage with both
     * ends.
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
