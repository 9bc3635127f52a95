package dev.troupe.engine;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * The memory of an engine: tensors, copies to and from the host, and what kernels hold beside their operands.
 *
 * <p>Order: an engine does what it is asked in the order of the calls. It may do so late: a call that returns nothing may
 * have its effect after it has returned ({@link #computesLate}), and a {@link #fence} says when. {@link #toHost} and
 * {@link #fromHost}, which begin at a fence, {@link #takeFrom}, {@link #toShared} and {@link #fromShared} alone are outside
 * that order.
 *
 * <p>Thread rule: {@link #allocate} is called by one thread at a time, which calls the kernels too. Copies may run on
 * another thread meanwhile, on tensors no kernel is using; {@link #fence}, {@link #instants}, {@link #toHost},
 * {@link #fromHost}, {@link #takeFrom} and the methods of shared memory are for any thread.
 */
public interface Memory {
    /**
     * Memory of a device that engines of several processes of one machine copy to and from. It is the device's, and of no
     * engine: all engines of the device in this process use it, and it stays when they are closed.
     */
    interface Shared extends AutoCloseable {
        /** The longest {@link #handle}, in bytes. */
        int MOST_HANDLE_BYTES = 1024;

        long byteCount();

        /** What another process {@linkplain Memory#openShared opens} it by. */
        byte[] handle();

        /**
         * Ends its use in this process: no copy to it or from it is under way. The process that has shared it closes it when
         * all others have closed it or ended. Closing twice has no effect.
         */
        @Override
        void close();
    }

    /**
     * Whether tensors hold values, which kernels compute. Where they do not, nothing need be loaded, and what is read means
     * nothing.
     */
    default boolean holdsValues() {
        return true;
    }

    /**
     * Whether work may still be under way when a call has returned, so that whatever reads a tensor on the host waits for
     * all that was asked before. Where it is not, all fences are reached.
     */
    default boolean computesLate() {
        return false;
    }

    /** The point that is reached once all that was asked of this engine so far is done, but for copies at fences. */
    default Fence fence() {
        return Fence.REACHED;
    }

    /**
     * Instants of this engine's work, none of them marked.
     *
     * @param count their numbers are 0 .. count - 1
     */
    default Fence.Instants instants(int count) {
        return Fence.Instants.ofHost(count);
    }

    /** A tensor filled with zeros. The caller closes it. */
    Tensor allocate(DataType dataType, Shape shape);

    /**
     * A tensor over neighbouring elements of another, in the same memory: what one writes the other reads. A kernel takes
     * it as any tensor. It is no allocation: {@link #allocatedBytes} counts its buffer alone, closing it has no effect, and
     * it ends with its buffer. Many small tensors that one kernel call is to serve are ranges of one.
     *
     * @param buffer an open tensor of this engine, itself a range or not
     * @param first its element, in row-major order, that the range begins with
     * @param shape of the range
     * @throws IllegalArgumentException where the buffer ends before the range does
     */
    Tensor range(Tensor buffer, long first, Shape shape);

    /**
     * A tensor over the first elements of another, in the same memory, as a {@link #range} is, for a buffer that is used
     * again and again for tensors of several sizes: nothing is kept beside it.
     *
     * @param buffer an open tensor that this engine allocated
     * @throws IllegalArgumentException where the buffer is smaller than the shape
     */
    default Tensor beginning(Tensor buffer, Shape shape) {
        return range(buffer, 0, shape);
    }

    /**
     * Bytes that this engine keeps beside a range once the range has been the right side of a product: a copy of it, packed
     * in the order in which the product reads it. A product with the transposed range keeps as many bytes again. They are
     * freed with the buffer.
     *
     * @param rows the rows of the product
     */
    default long bytesKeptBeside(Shape range, long rows) {
        return 0;
    }

    /**
     * Bytes of scratch memory that this engine takes for a product [m x k] [k x n], and holds from then on: the most that
     * any of its products took, and not their sum. They are not in {@link #allocatedBytes}.
     *
     * @param isRange whether the right side is a range, beside which {@link #bytesKeptBeside} says what is kept
     * @param product the type of the product
     */
    default long productScratchBytes(long m, long k, long n, boolean isRange, DataType product) {
        return 0;
    }

    /** Bytes of all tensors allocated and not closed, with what is kept beside their ranges. */
    long allocatedBytes();

    /**
     * Copies {@code target.byteSize()} bytes (little-endian elements) of a tensor, from a byte offset, to host memory, and
     * returns when they are there: after all that was asked before. The memory may be native or on the heap and begin at
     * any address.
     *
     * @throws IllegalArgumentException where the bytes are not whole elements of the tensor
     */
    void copyToHost(Tensor source, long byteOffset, MemorySegment target);

    /**
     * Copies {@code source.byteSize()} bytes (little-endian elements) of host memory to a byte offset of a tensor, in the
     * order of the calls, and returns when they have been read. The memory may be native or on the heap and begin at any
     * address.
     *
     * @throws IllegalArgumentException where the bytes are not whole elements of the tensor
     */
    void copyFromHost(MemorySegment source, Tensor target, long byteOffset);

    /**
     * As {@link #copyToHost}, but begins once a fence is reached, whatever else this engine still has to do, and may return
     * before it is done. What was asked after that fence may read the tensor meanwhile, and must not write or close it.
     *
     * @param target must stay as it is, and alive, until the fence that is returned is reached; native memory, or on
     *     the heap where the caller waits at once
     * @param after a fence of this engine
     * @return reached once the bytes are in host memory
     */
    default Fence toHost(Tensor source, long byteOffset, MemorySegment target, Fence after) {
        after.await();
        copyToHost(source, byteOffset, target);
        return Fence.REACHED;
    }

    /**
     * As {@link #copyFromHost}, but begins once a fence is reached, whatever else this engine still has to do, and may
     * return before it is done. Nothing that was asked after that fence may use the tensor until the fence that is
     * returned is reached. Arguments as of {@link #toHost}.
     *
     * @return reached once the bytes are in the tensor
     */
    default Fence fromHost(MemorySegment source, Tensor target, long byteOffset, Fence after) {
        after.await();
        copyFromHost(source, target, byteOffset);
        return Fence.REACHED;
    }

    /**
     * Copies bytes of a tensor of any engine to the same place in a tensor of this one without the host, where both are in
     * the memory of one device or of devices that reach each other's, and may return before it is done. It begins at once,
     * whatever the two engines still have to do: the source has been written, and nothing uses the target, until the fence
     * that is returned is reached.
     *
     * @param source an open tensor of an engine of this process
     * @param target an open tensor of this engine
     * @return reached once the bytes are in the target; empty, and nothing is copied, where the way is by the host
     * @throws IllegalArgumentException where the bytes are not whole elements of both tensors
     */
    default Optional<Fence> takeFrom(Tensor source, Tensor target, long byteOffset, long byteCount) {
        return Optional.empty();
    }

    /**
     * Memory of this engine's device, of which nothing is known, that other processes of the machine can open. The caller
     * closes it. It is not in {@link #allocatedBytes}.
     *
     * @return empty where engines of this kind share none
     * @throws IllegalStateException where the device refuses; the message says why, and the engine serves as before
     */
    default Optional<Shared> share(long byteCount) {
        return Optional.empty();
    }

    /**
     * Memory that an engine of another process of the machine has shared. The caller closes it.
     *
     * @return empty where this engine's device does not reach it
     * @throws IllegalStateException where the device refuses; the message says why, and the engine serves as before
     */
    default Optional<Shared> openShared(byte[] handle) {
        return Optional.empty();
    }

    /**
     * Copies bytes of a tensor to shared memory, and may return before it is done. It begins at once, whatever this engine
     * still has to do: the tensor has been written. Copies to and from shared memory are done in the order of the calls.
     *
     * @param target that an engine of the same device in this process has shared or opened
     * @return reached once the bytes are there for every process; empty, and nothing is copied, where the way is by the host
     * @throws IllegalArgumentException where the bytes are not whole elements of the tensor, or not in the memory
     */
    default Optional<Fence> toShared(Tensor source, long byteOffset, long byteCount, Shared target,
            long targetOffset) {
        return Optional.empty();
    }

    /**
     * Copies bytes of shared memory to a tensor, which nothing uses until the fence that is returned is reached; all else as
     * of {@link #toShared}.
     */
    default Optional<Fence> fromShared(Shared source, long sourceOffset, Tensor target, long byteOffset,
            long byteCount) {
        return Optional.empty();
    }

    /**
     * What is asked of this engine from here on begins once a fence of an engine of this process is reached. Where both
     * compute on devices of one kind the caller does not wait. Any thread.
     */
    default void waitFor(Fence other) {
        other.await();
    }

    /**
     * Whether {@link #reduce} takes these tensors, each of an engine of this process: all are in memory that this engine's
     * device reads and writes, its own or that of a peer, and {@code FLOAT32} or {@code BFLOAT16}.
     */
    default boolean reaches(List<Tensor> tensors) {
        return false;
    }

    /**
     * Adds up the same elements of tensors that this engine {@linkplain #reaches reaches}, in the order of the list, and
     * writes each sum to all targets: in the order of the calls, on any thread. The sums are
     * float32, rounded once. That other engines have written the sources, and use no target, is the caller's business
     * ({@link #waitFor}).
     *
     * @param sources of one type; a single one is copied
     * @param sourceFirst the element, in row-major order, that each source begins with
     * @param targets of the same type; a source may be among them where the elements are the same
     * @param largest whether the largest is taken in place of the sum
     */
    default void reduce(List<Tensor> sources, long sourceFirst, List<Tensor> targets, long targetFirst, long count,
            boolean largest) {
        throw new UnsupportedOperationException("reduce is for engines that reach tensors of others, which " + this
                + " does not");
    }

    /**
     * The elements of a tensor themselves, where they lie in native memory of this process as {@link #copyToHost} would
     * copy them, so that nothing need be copied. What is written there is in the tensor. Empty where they lie elsewhere or
     * in another form.
     *
     * <p>Valid until the tensor is closed; used meanwhile by any thread, while no kernel uses the tensor: behind a fence.
     */
    default Optional<MemorySegment> hostMemory(Tensor tensor) {
        return Optional.empty();
    }
}
