package dev.troupe.engine.nd4j;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;

/** Checks the operands of one kernel call before anything is written, and says what is wrong with which of them. */
record Operands(Nd4jMemory memory, DataType parameterType, String kernel) {
    /** An open tensor of this engine. */
    Nd4jTensor own(String name, Tensor tensor) {
        if (!(tensor instanceof Nd4jTensor own) || own.owner() != memory) {
            throw new IllegalArgumentException("%s: %s must be a tensor of this engine, but is %s".formatted(kernel,
                    name, tensor == null ? "null" : "another's"));
        }
        if (own.isClosed()) {
            throw new IllegalStateException("%s: %s, %s %s, is used after it was closed".formatted(kernel, name, own
                    .dataType(), own.shape()));
        }
        return own;
    }

    /** A float tensor of any shape. */
    Nd4jTensor floats(String name, Tensor tensor) {
        Nd4jTensor own = own(name, tensor);
        require(own.dataType() == parameterType, name, "must be of " + parameterType, own);
        return own;
    }

    /** A float tensor of one dimension. */
    Nd4jTensor floats(String name, Tensor tensor, int size) {
        Nd4jTensor own = floats(name, tensor);
        require(own.shape().rank() == 1 && own.size(0) == size, name, "must be [%d]".formatted(size), own);
        return own;
    }

    /** A float tensor of two dimensions. */
    Nd4jTensor floats(String name, Tensor tensor, int rows, int columns) {
        Nd4jTensor own = matrix(name, tensor);
        require(own.size(0) == rows && own.size(1) == columns, name, "must be [%d x %d]".formatted(rows, columns), own);
        return own;
    }

    /** A float tensor of two dimensions of any size. */
    Nd4jTensor matrix(String name, Tensor tensor) {
        Nd4jTensor own = floats(name, tensor);
        require(own.shape().rank() == 2, name, "must have two dimensions", own);
        return own;
    }

    /** A float matrix whose elements INT32 can count. */
    Nd4jTensor indexable(String name, Tensor tensor) {
        Nd4jTensor own = matrix(name, tensor);
        require(own.shape().elementCount() <= Integer.MAX_VALUE, name,
                "must have at most 2^31 - 1 elements on this engine (make the microbatch smaller)", own);
        return own;
    }

    /** A float tensor of the shape of another. */
    Nd4jTensor like(String name, Tensor tensor, Nd4jTensor other) {
        return exactly(name, tensor, parameterType, other.shape());
    }

    /** An INT32 tensor of one dimension. */
    Nd4jTensor ints(String name, Tensor tensor, int size) {
        return exactly(name, tensor, DataType.INT32, Shape.of(size));
    }

    /** A float matrix with at least so many rows, and exactly so many columns. */
    Nd4jTensor table(String name, Tensor tensor, int leastRows, int columns) {
        Nd4jTensor own = matrix(name, tensor);
        require(own.size(0) >= leastRows && own.size(1) == columns, name, "must be [at least %d x %d]".formatted(
                leastRows, columns), own);
        return own;
    }

    Nd4jTensor exactly(String name, Tensor tensor, DataType dataType, Shape shape) {
        Nd4jTensor own = own(name, tensor);
        require(own.dataType() == dataType && own.shape().equals(shape), name, "must be " + dataType + " " + shape,
                own);
        return own;
    }

    /** The state of attention for these rows; checks sequences and heads too. */
    Nd4jTensor attentionState(Tensor state, Nd4jTensor rows, int sequenceLength, int heads) {
        int sequences = sequences(rows.size(0), sequenceLength);
        require(heads > 0 && rows.size(1) % heads == 0, "the hidden size", "must be a multiple of " + heads + " heads",
                rows);
        return exactly("state", state, parameterType, CausalAttention.stateShape(sequences, sequenceLength, heads));
    }

    /** Bytes of a tensor that are all there, and whole elements. */
    Nd4jTensor bytes(String name, Tensor tensor, long byteOffset, long byteCount) {
        Nd4jTensor own = own(name, tensor);
        if (byteOffset < 0 || byteCount > own.byteCount() - byteOffset) {
            throw new IllegalArgumentException("%s: %d bytes from byte %d on are not all within %s, which has %d"
                    .formatted(kernel, byteCount, byteOffset, name, own.byteCount()));
        }
        int elementBytes = own.dataType().elementBytes();
        if (byteOffset % elementBytes != 0 || byteCount % elementBytes != 0) {
            throw new IllegalArgumentException(
                    "%s: %d bytes from byte %d on are not whole elements of %s, which have %d"
                            .formatted(kernel, byteCount, byteOffset, name, elementBytes));
        }
        return own;
    }

    /** Refuses an output that shares memory with another operand. */
    void apart(String name, Nd4jTensor output, Nd4jTensor... others) {
        for (Nd4jTensor other : others) {
            if (output.overlaps(other)) {
                throw new IllegalArgumentException("%s: %s must be a tensor of its own, but is also another operand"
                        .formatted(kernel, name));
            }
        }
    }

    /** How many sequences so many rows are. */
    int sequences(int rows, int sequenceLength) {
        if (sequenceLength < 1 || rows % sequenceLength != 0) {
            throw new IllegalArgumentException("%s: %d rows are not whole sequences of length %d".formatted(kernel,
                    rows, sequenceLength));
        }
        return rows / sequenceLength;
    }

    void require(boolean holds, String name, String need, Tensor found) {
        if (!holds) {
            throw new IllegalArgumentException("%s: %s %s, but is %s %s".formatted(kernel, name, need, found
                    .dataType(), found.shape()));
        }
    }
}
