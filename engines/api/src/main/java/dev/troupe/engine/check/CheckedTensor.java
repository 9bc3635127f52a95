package dev.troupe.engine.check;

import dev.troupe.engine.EngineTensor;
import dev.troupe.engine.Tensor;

/**
 * A tensor of a checked engine: the engine's own tensor with its owner, whether it is closed, and its place in a buffer.
 */
final class CheckedTensor extends EngineTensor {
    private final CheckedMemory owner;
    private final Tensor own;
    /** The tensor whose elements these are: itself, or the one it is a range of. */
    private final CheckedTensor buffer;
    /** The element of the buffer that this begins with. */
    private final long first;
    private volatile boolean isClosed;

    CheckedTensor(CheckedMemory owner, Tensor own) {
        super(own.dataType(), own.shape());
        this.owner = owner;
        this.own = own;
        this.buffer = this;
        this.first = 0;
    }

    /** A range of another tensor. */
    CheckedTensor(CheckedTensor whole, long first, Tensor own) {
        super(own.dataType(), own.shape());
        this.owner = whole.owner;
        this.own = own;
        this.buffer = whole.buffer;
        this.first = whole.first + first;
    }

    /** The engine's own tensor, which its kernels take. */
    Tensor own() {
        return own;
    }

    CheckedMemory owner() {
        return owner;
    }

    boolean isClosed() {
        return buffer.isClosed;
    }

    /** Whether they have an element in common. */
    boolean overlaps(CheckedTensor other) {
        return buffer == other.buffer && first < other.first + other.shape.elementCount()
                && other.first < first + shape.elementCount();
    }

    @Override
    public void close() {
        isClosed = true; // of a range it has no effect: the buffer says
        own.close();
    }
}
