package dev.troupe.engine;

/** The type and the shape of an engine's tensor: a base for the tensors of engines. */
public abstract class EngineTensor implements Tensor {
    protected final DataType dataType;
    protected final Shape shape;

    protected EngineTensor(DataType dataType, Shape shape) {
        this.dataType = dataType;
        this.shape = shape;
    }

    @Override
    public final DataType dataType() {
        return dataType;
    }

    @Override
    public final Shape shape() {
        return shape;
    }

    public final int size(int dimension) {
        return shape.size(dimension);
    }
}
