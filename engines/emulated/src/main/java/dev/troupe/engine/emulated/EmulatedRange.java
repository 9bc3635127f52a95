package dev.troupe.engine.emulated;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;

/** A range of a tensor without memory; its buffer is what is counted. */
record EmulatedRange(DataType dataType, Shape shape) implements Tensor {
    @Override
    public void close() {
    }
}
