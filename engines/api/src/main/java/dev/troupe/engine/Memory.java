package dev.troupe.engine;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * The memory of an engine: tensors, copies to and from the host, and what kernels hold beside their operands.
 *
 * <p>Thread rule: {@link #allocate} is called by one thread at a time, which calls the kernels too. {@link #copyToHost} and
 * {@link #copyFromHost} may run on another thread meanwhile, on tensors no kernel is using.
 */
public interface Memory {
    /**
     * Whether tensors hold values, which kernels compute. Where they do not, nothing need be loaded, and what is read means
     * nothing.
     */
    default boolean holdsValues() {
        return true;
    }

    /** A tensor filled with zeros. The caller closes it. */
    Tensor allocate(DataType dataType, Shape shape);

    /**
     * A tensor over neighbouring elements of another, in the same memory: what one writes the other reads. A kernel takes
     * it as any tensor. It is no allocation: {@link #allocatedBytes} counts its buffer alone, closing it has no effect, and
     * it ends with its buffer. Many small tensors that one kernel call is to serve are ranges of one.
     *
     * @param buffer
     *            an open tensor of this engine, itself a range or not
     * @param first
     *            its element, in row-major order, that the range begins with
     * @param shape
     *            of the range
     * @throws IllegalArgumentException
     *             where the buffer ends before the range does
     */
    Tensor range(Tensor buffer, long first, Shape shape);

    /**
     * A tensor over the first elements of another, in the same memory, as a {@link #range} is, for a buffer that is used
     * again and again for tensors of several sizes: nothing is kept beside it.
     *
     * @param buffer
     *            an open tensor that this engine allocated
     * @throws IllegalArgumentException
     *             where the buffer is smaller than the shape
     */
    default Tensor beginning(Tensor buffer, Shape shape) {
        return range(buffer, 0, shape);
    }

    /**
     * Bytes that this engine keeps beside a range, in an order of its own, once the range has been the right side of a
     * product of so many rows; as much again once it has been that transposed. They end with the buffer.
     */
    default long bytesKeptBeside(Shape range, long rows) {
        return 0;
    }

    /**
     * Bytes of scratch memory that this engine takes for a product [m x k] [k x n], and holds from then on: the most that
     * any of its products took, and not their sum. They are not in {@link #allocatedBytes}.
     *
     * @param isRange
     *            whether the right side is a range, beside which {@link #bytesKeptBeside} says what is kept
     * @param product
     *            the type of the product
     */
    default long productScratchBytes(long m, long k, long n, boolean isRange, DataType product) {
        return 0;
    }

    /** Bytes of all tensors allocated and not closed, with what is kept beside their ranges. */
    long allocatedBytes();

    /**
     * Copies {@code target.byteSize()} bytes (little-endian elements) of a tensor, from a byte offset, to host memory.
     * The memory may be native or on the heap and begin at any address.
     *
     * @throws IllegalArgumentException
     *             where the bytes are not whole elements of the tensor
     */
    void copyToHost(Tensor source, long byteOffset, MemorySegment target);

    /**
     * Copies {@code source.byteSize()} bytes (little-endian elements) of host memory to a byte offset of a tensor. The
     * memory may be native or on the heap and begin at any address.
     *
     * @throws IllegalArgumentException
     *             where the bytes are not whole elements of the tensor
     */
    void copyFromHost(MemorySegment source, Tensor target, long byteOffset);

    /**
     * The elements of a tensor themselves, where they lie in native memory of this process as {@link #copyToHost} would
     * copy them, so that nothing need be copied. What is written there is in the tensor. Empty where they lie elsewhere or
     * in another form.
     *
     * <p>Valid until the tensor is closed; used meanwhile by any thread, while no kernel uses the tensor.
     */
    default Optional<MemorySegment> hostMemory(Tensor tensor) {
        return Optional.empty();
    }
}
