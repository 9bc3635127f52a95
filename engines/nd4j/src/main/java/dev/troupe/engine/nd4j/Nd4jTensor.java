package dev.troupe.engine.nd4j;

import dev.troupe.engine.DataType;
import dev.troupe.engine.EngineTensor;
import dev.troupe.engine.Shape;
import java.util.concurrent.atomic.AtomicBoolean;
import org.nd4j.linalg.api.ndarray.INDArray;

/** A tensor in a buffer of ND4J, or a range of one. */
final class Nd4jTensor extends EngineTensor {
    private final Nd4jMemory owner;
    /** The tensor that owns the memory: this one, or the one that this is a range of. */
    private final Nd4jTensor buffer;
    private final long start;
    private final ArrayViews views;
    private final AtomicBoolean closed = new AtomicBoolean();

    Nd4jTensor(Nd4jMemory owner, DataType dataType, Shape shape, INDArray elements) {
        super(dataType, shape);
        this.owner = owner;
        this.buffer = this;
        this.start = 0;
        this.views = new ArrayViews(elements);
    }

    Nd4jTensor(Nd4jTensor whole, long first, Shape shape) {
        super(whole.dataType, shape);
        this.owner = whole.owner;
        this.buffer = whole.buffer;
        this.start = whole.start + first;
        this.views = buffer.views.range(start, shape.elementCount());
    }

    ArrayViews views() {
        return views;
    }

    INDArray flat() {
        return views.flat();
    }

    INDArray part(long first, long length) {
        return length == shape.elementCount() ? flat() : views.view(first, length, 0, 1, 0);
    }

    /** Returns the matrix of a tensor of two dimensions, over the same memory. */
    INDArray matrix() {
        return views.matrix(size(0), size(1));
    }

    /** The transpose of {@link #matrix}, over the same memory. */
    INDArray transposed() {
        return views.transposed(size(0), size(1));
    }

    INDArray column() {
        return views.matrix(size(0), 1);
    }

    INDArray row() {
        return views.matrix(1, size(0));
    }

    @Override
    public void close() {
        if (buffer == this && closed.compareAndSet(false, true)) {
            owner.forget(this);
            views.close();
        }
    }
}
