package dev.troupe.engine.nd4j;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.nd4j.linalg.api.ndarray.INDArray;

/** A tensor in a buffer of ND4J, or a range of one. */
final class Nd4jTensor implements Tensor {
    private final Nd4jMemory owner;
    private final DataType dataType;
    private final Shape shape;
    /** The tensor whose memory this is: itself, or the one it is a range of. */
    private final Nd4jTensor buffer;
    /** The element of the buffer that this begins with. */
    private final long start;
    private final ArrayViews views;
    private final AtomicBoolean closed = new AtomicBoolean();

    Nd4jTensor(Nd4jMemory owner, DataType dataType, Shape shape, INDArray elements) {
        this.owner = owner;
        this.dataType = dataType;
        this.shape = shape;
        this.buffer = this;
        this.start = 0;
        this.views = new ArrayViews(elements);
    }

    /** A range of another tensor, which holds it. */
    Nd4jTensor(Nd4jTensor whole, long first, Shape shape) {
        this.owner = whole.owner;
        this.dataType = whole.dataType;
        this.shape = shape;
        this.buffer = whole.buffer;
        this.start = whole.start + first;
        this.views = buffer.views.range(start, shape.elementCount());
    }

    @Override
    public DataType dataType() {
        return dataType;
    }

    @Override
    public Shape shape() {
        return shape;
    }

    ArrayViews views() {
        return views;
    }

    int size(int dimension) {
        return shape.size(dimension);
    }

    /** All elements as a vector. */
    INDArray flat() {
        return views.flat();
    }

    /** Neighbouring elements as a vector. */
    INDArray part(long first, long length) {
        return length == shape.elementCount() ? flat() : views.view(first, length, 0, 1, 0);
    }

    /** A tensor of two dimensions as it is. */
    INDArray matrix() {
        return views.matrix(size(0), size(1));
    }

    /** The transpose of {@link #matrix}, over the same memory. */
    INDArray transposed() {
        return views.transposed(size(0), size(1));
    }

    /** A tensor of one dimension as a matrix of one column. */
    INDArray column() {
        return views.matrix(size(0), 1);
    }

    /** A tensor of one dimension as a matrix of one row. */
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
