package dev.troupe.stage;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.TensorPool;

/**
 * The tensors that cross the borders of one stage: activations and their gradients, [N x C], or with sequence parallelism
 * this rank's rows of them. The loads of experts are in further rows.
 *
 * <p>Thread rule: one thread at a time, the engine's, except for {@link #release}, which any thread may call.
 */
public final class BoundaryTensors {
    private final TensorPool pool;
    private final TensorPool.Extent extent;
    private final int sequenceLength;

    BoundaryTensors(TensorPool pool, TensorPool.Extent extent, int sequenceLength) {
        this.pool = pool;
        this.extent = extent;
        this.sequenceLength = sequenceLength;
    }

    /** Returns a buffer with any content, for the stage's input, of the longest sequences. */
    public Tensor take() {
        return pool.take(extent, sequenceLength);
    }

    /** Returns the free buffers of the stage's pool, from which boundary tensors and activations are taken. */
    public TensorPool.Free free() {
        return pool.free();
    }

    public int rowsOf(int length) {
        return extent.of(length).size(0);
    }

    /** Returns a boundary tensor for sequences of this length, in the memory of the given one, which it takes over. */
    public Tensor ofLength(Tensor boundary, int length) {
        return pool.reshape(boundary, extent.of(length));
    }

    /**
     * Takes over an output of another stage on the same engine, without a copy; that stage gets a buffer of this one in
     * return.
     */
    public void adopt(Tensor boundary, BoundaryTensors from) {
        Tensor buffer = take();
        pool.exchange(buffer, from.pool, boundary);
        from.release(buffer);
    }

    /**
     * Takes back an output of the stage, or an unused tensor of {@link #take} or {@link TiedTable#takeGradient}. Any thread.
     *
     * @throws IllegalArgumentException if the tensor is not of the stage, or was released before
     */
    public void release(Tensor boundary) {
        pool.give(boundary);
    }
}
