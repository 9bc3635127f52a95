package dev.troupe.engine.nd4j;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.nd4j.linalg.api.ndarray.INDArray;

/** A tensor in a buffer of ND4J. */
final class Nd4jTensor implements Tensor {
    private final Nd4jMemory owner;
    private final DataType dataType;
    private final Shape shape;
    private final ArrayViews views;
    private final AtomicBoolean closed = new AtomicBoolean();

    Nd4jTensor(Nd4jMemory owner, DataType dataType, Shape shape, INDArray elements) {
        this.owner = owner;
        this.dataType = dataType;
        this.shape = shape;
        this.views = new ArrayViews(elements);
    }

    @Override
    public DataType dataType() {
        return dataType;
    }

    @Override
    public Shape shape() {
        return shape;
    }

    Nd4jMemory owner() {
        return owner;
    }

    boolean isClosed() {
        return closed.get();
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
        if (closed.compareAndSet(false, true)) {
            owner.forget(this);
            views.close();
        }
    }
}
