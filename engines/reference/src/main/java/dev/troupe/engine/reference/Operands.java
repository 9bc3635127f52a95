package dev.troupe.engine.reference;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;

/**
 * Checks the tensors of one kernel call before anything is written: each belongs to this engine, is open, and has the
 * type and shape the kernel needs. What is wrong is said with the kernel, the operand, and what was expected and found.
 */
final class Operands {
    private final ReferenceMemory memory;
    private final DataType parameterType;
    private final DataType computeType;
    private final String kernel;

    Operands(ReferenceMemory memory, DataType parameterType, DataType computeType, String kernel) {
        this.memory = memory;
        this.parameterType = parameterType;
        this.computeType = computeType;
        this.kernel = kernel;
    }

    /** A float tensor of exactly these sizes. */
    ReferenceTensor floats(String name, Tensor tensor, int... sizes) {
        return exactly(name, tensor, parameterType, Shape.of(sizes));
    }

    /** An INT32 tensor of exactly these sizes. */
    ReferenceTensor ints(String name, Tensor tensor, int... sizes) {
        return exactly(name, tensor, DataType.INT32, Shape.of(sizes));
    }

    /** A product tensor of exactly these sizes. */
    ReferenceTensor products(String name, Tensor tensor, int... sizes) {
        return exactly(name, tensor, computeType, Shape.of(sizes));
    }

    /** A tensor of the type and the shape of another. */
    ReferenceTensor like(String name, Tensor tensor, ReferenceTensor other) {
        return exactly(name, tensor, other.dataType(), other.shape());
    }

    /** A float tensor of any shape. */
    ReferenceTensor anyFloats(String name, Tensor tensor) {
        return ofType(name, tensor, parameterType);
    }

    /** A product tensor of any shape. */
    ReferenceTensor anyProducts(String name, Tensor tensor) {
        return ofType(name, tensor, computeType);
    }

    /** A float tensor or a product tensor, of any shape. */
    ReferenceTensor either(String name, Tensor tensor) {
        ReferenceTensor own = own(name, tensor);
        require(own.dataType() == parameterType || own.dataType() == computeType, name, "must be of " + parameterType
                + (parameterType == computeType ? "" : " or " + computeType), tensor);
        return own;
    }

    /** A product tensor of two dimensions. */
    ReferenceTensor matrix(String name, Tensor tensor) {
        ReferenceTensor own = anyProducts(name, tensor);
        require(own.shape().rank() == 2, name, "must have two dimensions", tensor);
        return own;
    }

    /** Where a product goes: a product tensor, or a float tensor, of exactly these sizes. */
    ReferenceTensor product(Tensor tensor, boolean accumulate, int rows, int columns) {
        ReferenceTensor own = accumulate ? anyFloats("product", tensor) : either("product", tensor);
        return exactly("product", tensor, own.dataType(), Shape.of(rows, columns));
    }

    /** A float matrix with at least so many rows, and exactly so many columns. */
    ReferenceTensor table(String name, Tensor tensor, int leastRows, int columns) {
        ReferenceTensor own = anyFloats(name, tensor);
        require(own.shape().rank() == 2 && own.size(0) >= leastRows && own.size(1) == columns, name,
                "must be [at least %d x %d]".formatted(leastRows, columns), tensor);
        return own;
    }

    /** A product matrix with as many rows as another has columns. */
    ReferenceTensor weight(Tensor tensor, ReferenceTensor x) {
        ReferenceTensor own = matrix("weight", tensor);
        require(own.size(0) == x.size(1), "weight", "must have %d rows, the columns of x".formatted(x.size(1)), tensor);
        return own;
    }

    /** An open tensor of this engine, of any type and shape. */
    ReferenceTensor own(String name, Tensor tensor) {
        if (!(tensor instanceof ReferenceTensor own) || own.owner() != memory) {
            throw new IllegalArgumentException("%s: %s must be a tensor of this engine, but is %s".formatted(kernel,
                    name, tensor == null ? "null" : "another's"));
        }
        if (own.isClosed()) {
            throw new IllegalStateException("%s: %s, %s %s, is used after it was closed".formatted(kernel, name,
                    tensor.dataType(), tensor.shape()));
        }
        own.refresh();
        return own;
    }

    private ReferenceTensor ofType(String name, Tensor tensor, DataType dataType) {
        ReferenceTensor own = own(name, tensor);
        require(own.dataType() == dataType, name, "must be of " + dataType, tensor);
        return own;
    }

    ReferenceTensor exactly(String name, Tensor tensor, DataType dataType, Shape shape) {
        ReferenceTensor own = own(name, tensor);
        require(own.dataType() == dataType && own.shape().equals(shape), name, "must be " + dataType + " " + shape,
                tensor);
        return own;
    }

    /** Refuses an output that shares memory with another operand. */
    void apart(String name, ReferenceTensor output, ReferenceTensor... others) {
        for (ReferenceTensor other : others) {
            if (output.overlaps(other)) {
                throw new IllegalArgumentException(
                        "%s: %s is written and must be a tensor of its own, but is given twice".formatted(kernel,
                                name));
            }
        }
    }

    /** The number of whole sequences in so many rows. */
    int sequences(int rows, int sequenceLength) {
        if (sequenceLength < 1 || rows % sequenceLength != 0) {
            throw new IllegalArgumentException("%s: %d rows are not whole sequences of length %d".formatted(kernel,
                    rows, sequenceLength));
        }
        return rows / sequenceLength;
    }

    /** Refuses ids that are neither a row of a table nor elsewhere. */
    void idsBelow(int limit, String name, ReferenceTensor ids) {
        int[] values = ids.ints();
        for (int i = 0; i < values.length; i++) {
            if (values[i] < 0 && values[i] != Engine.NOT_IN_SHARD || values[i] >= limit) {
                throw new IllegalArgumentException("%s: %s[%d] is %d, but must be from 0 to %d, or %d for elsewhere"
                        .formatted(kernel, name, i, values[i], limit - 1, Engine.NOT_IN_SHARD));
            }
        }
    }

    void require(boolean holds, String name, String need, Tensor found) {
        if (!holds) {
            throw new IllegalArgumentException("%s: %s %s, but is %s %s".formatted(kernel, name, need,
                    found.dataType(), found.shape()));
        }
    }
}
