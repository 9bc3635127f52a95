package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;

/**
 * Checks the operands of one kernel before anything is written. Nothing behind it checks again, so it is what stands
 * between a wrong shape and memory that is not the tensor's.
 *
 * @param memory
 *            of the engine that is called
 * @param computeType
 *            of the engine that is called
 * @param kernel
 *            the engine's method, for messages
 * @param onlyRead
 *            whether the operands that are checked next are not written by the kernel; where it is not said, it is
 *            supposed that they are, which costs no more than packing parameters again
 */
record Operands(CpuMemory memory, DataType computeType, String kernel, boolean onlyRead) {
    Operands(CpuMemory memory, DataType computeType, String kernel) {
        this(memory, computeType, kernel, false);
    }

    /** The same for operands that the kernel does not write. */
    Operands reading() {
        return new Operands(memory, computeType, kernel, true);
    }

    /** An open tensor of this engine, of any type and shape. */
    CpuTensor own(String name, Tensor tensor) {
        if (!(tensor instanceof CpuTensor own) || own.owner() != memory) {
            throw new IllegalArgumentException("%s: %s must be a tensor of this engine, but is %s".formatted(kernel,
                    name, tensor == null ? "null" : "another's"));
        }
        if (own.isClosed()) {
            throw new IllegalStateException("%s: %s, %s %s, is used after it was closed".formatted(kernel, name,
                    tensor.dataType(), tensor.shape()));
        }
        if (!onlyRead) {
            own.mayChange();
        }
        return own;
    }

    /** A float tensor of any shape. */
    CpuTensor anyFloats(String name, Tensor tensor) {
        return ofType(name, tensor, DataType.FLOAT32);
    }

    /** A product tensor of any shape. */
    CpuTensor anyProducts(String name, Tensor tensor) {
        return ofType(name, tensor, computeType);
    }

    /** A float tensor or a product tensor, of any shape. */
    CpuTensor either(String name, Tensor tensor) {
        CpuTensor own = own(name, tensor);
        return own.dataType() == computeType ? own : anyFloats(name, tensor);
    }

    private CpuTensor ofType(String name, Tensor tensor, DataType dataType) {
        CpuTensor own = own(name, tensor);
        if (own.dataType() != dataType) {
            throw misfit(name, "must be of " + dataType, tensor);
        }
        return own;
    }

    /** A tensor of the type and the shape of another. */
    CpuTensor like(String name, Tensor tensor, CpuTensor other) {
        return exactly(name, tensor, other.dataType(), other.shape());
    }

    CpuTensor exactly(String name, Tensor tensor, DataType dataType, Shape shape) {
        CpuTensor own = own(name, tensor);
        if (own.dataType() != dataType || !own.shape().equals(shape)) {
            throw misfit(name, "must be " + dataType + " " + shape, tensor);
        }
        return own;
    }

    /** A product tensor of two dimensions. */
    CpuTensor matrix(String name, Tensor tensor) {
        return ofTwoDimensions(name, anyProducts(name, tensor));
    }

    /** A product matrix of exactly this shape. */
    CpuTensor matrix(String name, Tensor tensor, int rows, int columns) {
        return ofSizes(name, matrix(name, tensor), rows, columns);
    }

    /** Where a product goes: a product matrix, or a float matrix, of exactly this shape. */
    CpuTensor product(Tensor tensor, boolean accumulate, int rows, int columns) {
        CpuTensor own = accumulate ? anyFloats("product", tensor) : either("product", tensor);
        return ofSizes("product", ofTwoDimensions("product", own), rows, columns);
    }

    private CpuTensor ofTwoDimensions(String name, CpuTensor own) {
        if (own.shape().rank() != 2) {
            throw misfit(name, "must have two dimensions", own);
        }
        return own;
    }

    private CpuTensor ofSizes(String name, CpuTensor own, int rows, int columns) {
        if (own.size(0) != rows || own.size(1) != columns) {
            throw misfit(name, "must be [%d x %d]".formatted(rows, columns), own);
        }
        return own;
    }

    /** A float matrix with at least so many rows, and exactly so many columns. */
    CpuTensor table(String name, Tensor tensor, int leastRows, int columns) {
        CpuTensor own = ofTwoDimensions(name, anyFloats(name, tensor));
        if (own.size(0) < leastRows || own.size(1) != columns) {
            throw misfit(name, "must be [at least %d x %d]".formatted(leastRows, columns), tensor);
        }
        return own;
    }

    /** A float tensor of one dimension. */
    CpuTensor vector(String name, Tensor tensor, int size) {
        return ofSize(name, anyFloats(name, tensor), size);
    }

    /** Integers in one dimension. */
    CpuTensor ids(String name, Tensor tensor, int size) {
        CpuTensor own = own(name, tensor);
        if (own.dataType() != DataType.INT32) {
            throw misfit(name, "must be of INT32", tensor);
        }
        return ofSize(name, own, size);
    }

    /** Refuses ids that are neither a row of a table nor elsewhere: they would be read or written beyond it. */
    void idsBelow(int limit, String name, CpuTensor ids) {
        long address = ids.address();
        int count = ids.size(0);
        for (int i = 0; i < count; i++) {
            int id = Lanes.getInt(address, i);
            if (id < 0 && id != Engine.NOT_IN_SHARD || id >= limit) {
                throw new IllegalArgumentException("%s: %s[%d] is %d, but must be from 0 to %d, or %d for elsewhere"
                        .formatted(kernel, name, i, id, limit - 1, Engine.NOT_IN_SHARD));
            }
        }
    }

    /** A product matrix with as many rows as another has columns. */
    CpuTensor weight(Tensor tensor, CpuTensor x) {
        CpuTensor own = matrix("weight", tensor);
        if (own.size(0) != x.size(1)) {
            throw misfit("weight", "must have %d rows, the columns of x".formatted(x.size(1)), tensor);
        }
        return own;
    }

    /** The number of heads of all sequences together. */
    int heads(CpuTensor y, int sequenceLength, int heads) {
        int sequences = sequences(y, sequenceLength);
        if (heads < 1 || y.size(1) % heads != 0) {
            throw misfit("the hidden size", "must be a multiple of " + heads + " heads", y);
        }
        return sequences * heads;
    }

    /** Where the state of attention is that belongs to these rows. */
    long attentionState(Tensor state, CpuTensor y, int sequenceLength, int heads) {
        return exactly("state", state, DataType.FLOAT32,
                Shape.of(y.size(0) / sequenceLength, heads, sequenceLength)).address();
    }

    /** The number of whole sequences in the rows of a matrix. */
    int sequences(CpuTensor matrix, int sequenceLength) {
        int rows = matrix.size(0);
        if (sequenceLength < 1 || rows % sequenceLength != 0) {
            throw new IllegalArgumentException("%s: %d rows are not whole sequences of length %d".formatted(kernel,
                    rows, sequenceLength));
        }
        return rows / sequenceLength;
    }

    /** The part of a tensor that a copy of host memory meets: it must lie in the tensor and cut no element. */
    MemorySegment range(CpuTensor tensor, long byteOffset, long bytes) {
        if (byteOffset < 0 || bytes > tensor.byteCount() - byteOffset) {
            throw new IllegalArgumentException("%s: %d bytes from byte %d do not lie in a tensor of %d bytes (%s %s)"
                    .formatted(kernel, bytes, byteOffset, tensor.byteCount(), tensor.dataType(), tensor.shape()));
        }
        int elementBytes = tensor.dataType().elementBytes();
        if (byteOffset % elementBytes != 0 || bytes % elementBytes != 0) {
            throw new IllegalArgumentException(
                    "%s: %d bytes from byte %d cut an element; both must be multiples of the %d bytes of %s"
                            .formatted(kernel, bytes, byteOffset, elementBytes, tensor.dataType()));
        }
        return tensor.elements().asSlice(byteOffset, bytes);
    }

    IllegalArgumentException misfit(String name, String need, Tensor found) {
        return new IllegalArgumentException("%s: %s %s, but is %s %s".formatted(kernel, name, need,
                found.dataType(), found.shape()));
    }

    private CpuTensor ofSize(String name, CpuTensor own, int size) {
        if (own.shape().rank() != 1 || own.size(0) != size) {
            throw misfit(name, "must have one dimension of size " + size, own);
        }
        return own;
    }
}
