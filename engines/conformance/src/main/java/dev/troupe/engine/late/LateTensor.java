package dev.troupe.engine.late;

import dev.troupe.engine.EngineTensor;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;

/** A tensor of a late engine: a tensor of the other engine, and its place in a buffer. */
final class LateTensor extends EngineTensor {
    private final LateEngine owner;
    private final Tensor own;
    private final LateTensor buffer;
    private final long first;
    /** For a buffer; guarded by the owner. */
    private boolean isClosed;

    LateTensor(LateEngine owner, Tensor own) {
        super(own.dataType(), own.shape());
        this.owner = owner;
        this.own = own;
        this.buffer = this;
        this.first = 0;
    }

    LateTensor(LateTensor whole, long first, Shape shape, Tensor own) {
        super(whole.dataType, shape);
        this.owner = whole.owner;
        this.own = own;
        this.buffer = whole.buffer;
        this.first = whole.first + first;
    }

    Tensor own() {
        return own;
    }

    LateEngine owner() {
        return owner;
    }

    boolean isBuffer() {
        return buffer == this;
    }

    boolean isClosed() {
        return buffer.isClosed;
    }

    void markClosed() {
        isClosed = true;
    }

    boolean overlaps(LateTensor other) {
        return buffer == other.buffer && first < other.first + other.shape.elementCount()
                && other.first < first + shape.elementCount();
    }

    @Override
    public void close() {
        owner.close(this);
    }

    @Override
    public String toString() {
        return dataType + " " + shape;
    }
}
