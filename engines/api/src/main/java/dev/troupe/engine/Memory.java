package dev.troupe.engine;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * The memory of an engine: tensors, and copies to and from the host. Five methods have no default; the others are for
 * engines that compute late, keep memory in addition to tensors, or reach the memory of other engines.
 *
 * <p>Order: an engine executes calls in their order. A call without a result may take effect after it has returned
 * ({@link #computesLate}); a {@link #fence} marks that point. The exceptions are {@link #toHost} and {@link #fromHost},
 * which begin at a fence, {@link #takeFrom}, {@link #toShared} and {@link #fromShared}.
 *
 * <p>Thread rule: one thread at a time calls {@link #allocate} and the kernels. Copies may run on another thread meanwhile,
 * on tensors that no kernel is using; {@link #fence}, {@link #instants}, {@link #toHost}, {@link #fromHost},
 * {@link #takeFrom} and the methods of shared memory are for any thread.
 */
public interface Memory {
    /**
     * Memory of a device for engines of several processes of one machine. It belongs to the device: all engines of the
     * device in this process may use it, and it remains when they are closed.
     */
    interface Shared extends AutoCloseable {
        /** The longest {@link #handle}, in bytes. */
        int MOST_HANDLE_BYTES = 1024;

        long byteCount();

        /** The bytes by which another process {@linkplain Memory#openShared opens} it. */
        byte[] handle();

        /**
         * Ends its use in this process; no copy to it or from it may be in progress. The process that shared it closes it
         * last, after all others have closed it or ended. Closing twice has no effect.
         */
        @Override
        void close();
    }

    /** Whether tensors hold values. If not, nothing needs to be loaded, and contents that are read are meaningless. */
    default boolean holdsValues() {
        return true;
    }

    /** Whether work may still be in progress when a call has returned. If not, all fences are reached. */
    default boolean computesLate() {
        return false;
    }

    /** The point that is reached when all calls so far are done, except copies at fences. */
    default Fence fence() {
        return Fence.REACHED;
    }

    /**
     * Instants of this engine's work, none of them marked yet.
     *
     * @param count their numbers are 0 .. count - 1
     */
    default Fence.Instants instants(int count) {
        return Fence.Instants.ofHost(count);
    }

    /** A tensor filled with zeros. The caller closes it. */
    Tensor allocate(DataType dataType, Shape shape);

    /**
     * A tensor over neighbouring elements of another, in the same memory. Kernels take it as any tensor. It is no
     * allocation: {@link #allocatedBytes} counts its buffer alone, closing it has no effect, and it ends with its buffer.
     *
     * @param buffer an open tensor of this engine, itself a range or not
     * @param first the index of the first element, in row-major order of the buffer
     * @throws IllegalArgumentException if the buffer ends before the range does
     */
    Tensor range(Tensor buffer, long first, Shape shape);

    /**
     * A {@link #range} of the first elements of a buffer that is reused for tensors of other sizes. The engine keeps no
     * packed copy of it.
     *
     * @param buffer an open tensor that this engine allocated
     * @throws IllegalArgumentException if the buffer is smaller than the shape
     */
    default Tensor beginning(Tensor buffer, Shape shape) {
        return range(buffer, 0, shape);
    }

    /**
     * Bytes of the packed copy that this engine keeps of a range after a product with the range as its right side. A product
     * with the transposed range keeps a second copy of the same size. Copies are freed with the buffer.
     */
    default long packedCopyBytes(Shape range, long rows) {
        return 0;
    }

    /**
     * Bytes of scratch memory of a product [m x k] [k x n]. The engine keeps the largest scratch of all products, not their
     * sum. They are not in {@link #allocatedBytes}.
     *
     * @param isRange whether the right side is a range, of which a copy may be kept ({@link #packedCopyBytes})
     */
    default long productScratchBytes(long m, long k, long n, boolean isRange, DataType product) {
        return 0;
    }

    /** Bytes of all tensors allocated and not closed, including the copies that are kept of their ranges. */
    long allocatedBytes();

    /**
     * Copies {@code target.byteSize()} bytes (little-endian elements) of a tensor, from a byte offset, to host memory, in
     * the order of the calls, and returns after their arrival. The memory may be native or on the heap, at any address.
     *
     * @throws IllegalArgumentException if the bytes are not whole elements of the tensor
     */
    void copyToHost(Tensor source, long byteOffset, MemorySegment target);

    /**
     * Copies {@code source.byteSize()} bytes (little-endian elements) of host memory to a byte offset of a tensor, in the
     * order of the calls, and returns after they have been read. The memory may be native or on the heap, at any address.
     *
     * @throws IllegalArgumentException if the bytes are not whole elements of the tensor
     */
    void copyFromHost(MemorySegment source, Tensor target, long byteOffset);

    /**
     * As {@link #copyToHost}, but begins when a fence is reached, whatever other work is pending, and may return before it
     * is done. Until it is done, calls after that fence may read the tensor, but not write or close it.
     *
     * @param target must stay unchanged and alive until the returned fence is reached; native memory, or on the heap if the
     *     caller waits at once
     * @return reached when the bytes are in host memory
     */
    default Fence toHost(Tensor source, long byteOffset, MemorySegment target, Fence after) {
        after.await();
        copyToHost(source, byteOffset, target);
        return Fence.REACHED;
    }

    /**
     * As {@link #copyFromHost}, but begins when a fence is reached, whatever other work is pending, and may return before it
     * is done. No call after that fence may use the tensor until the returned fence is reached. Arguments as of
     * {@link #toHost}.
     *
     * @return reached when the bytes are in the tensor
     */
    default Fence fromHost(MemorySegment source, Tensor target, long byteOffset, Fence after) {
        after.await();
        copyFromHost(source, target, byteOffset);
        return Fence.REACHED;
    }

    /**
     * Copies bytes of a tensor of any engine to the same place in a tensor of this one without the host, and may return
     * before it is done. It begins at once, whatever work of the two engines is pending. The source must be complete, and
     * nothing may use the target until the returned fence is reached.
     *
     * @param source an open tensor of an engine of this process
     * @param target an open tensor of this engine
     * @return reached when the bytes are in the target; empty, and nothing is copied, if the devices do not reach each other
     * @throws IllegalArgumentException if the bytes are not whole elements of both tensors
     */
    default Optional<Fence> takeFrom(Tensor source, Tensor target, long byteOffset, long byteCount) {
        return Optional.empty();
    }

    /**
     * Memory of this engine's device, with arbitrary contents, that other processes of the machine can open. The caller
     * closes it. It is not in {@link #allocatedBytes}.
     *
     * @return empty if engines of this kind share none
     * @throws IllegalStateException if the device refuses; the message has the reason, and the engine remains usable
     */
    default Optional<Shared> share(long byteCount) {
        return Optional.empty();
    }

    /**
     * Memory that an engine of another process of the machine has shared. The caller closes it.
     *
     * @return empty if this engine's device does not reach it
     * @throws IllegalStateException if the device refuses; the message has the reason, and the engine remains usable
     */
    default Optional<Shared> openShared(byte[] handle) {
        return Optional.empty();
    }

    /**
     * Copies bytes of a tensor to shared memory, and may return before it is done. It begins at once, whatever other work is
     * pending, so the tensor must be complete. Copies to and from shared memory are done in the order of the calls.
     *
     * @param target memory that an engine of the same device in this process has shared or opened
     * @return reached when every process can read the bytes; empty, and nothing is copied, if this device cannot copy
     *     directly
     * @throws IllegalArgumentException if the bytes are not whole elements of the tensor, or not in the memory
     */
    default Optional<Fence> toShared(Tensor source, long byteOffset, long byteCount, Shared target,
            long targetOffset) {
        return Optional.empty();
    }

    /**
     * Copies bytes of shared memory to a tensor, which nothing uses until the returned fence is reached; all else as of
     * {@link #toShared}.
     */
    default Optional<Fence> fromShared(Shared source, long sourceOffset, Tensor target, long byteOffset,
            long byteCount) {
        return Optional.empty();
    }

    /**
     * Makes all further calls wait for a fence of an engine of this process. The calling thread does not wait if both
     * devices are of one kind. Any thread.
     */
    default void waitFor(Fence other) {
        other.await();
    }

    /**
     * Whether {@link #reduce} takes these tensors, each of an engine of this process: all are {@code FLOAT32} or
     * {@code BFLOAT16}, in memory that this engine's device reads and writes, its own or a peer's.
     */
    default boolean reaches(List<Tensor> tensors) {
        return false;
    }

    /**
     * Adds up the same elements of tensors that this engine {@linkplain #reaches reaches}, in the order of the list, and
     * writes each sum to all targets. Sums are float32, rounded once. Any thread. The caller makes sure that other engines
     * have written the sources and use no target ({@link #waitFor}).
     *
     * @param sources of one type; a single one is copied
     * @param sourceFirst the index of the first element of each source, in row-major order
     * @param targets of the same type; a source may be among them if the elements are the same
     * @param largest whether to take the largest element instead of the sum
     */
    default void reduce(List<Tensor> sources, long sourceFirst, List<Tensor> targets, long targetFirst, long count,
            boolean largest) {
        throw new UnsupportedOperationException("reduce is for engines that reach tensors of others, which " + this
                + " does not");
    }

    /**
     * The elements of a tensor in place, if they are in native memory of this process in the form of {@link #copyToHost};
     * writing there changes the tensor. Otherwise empty.
     *
     * <p>Valid until the tensor is closed; for any thread, after a fence and while no kernel uses the tensor.
     */
    default Optional<MemorySegment> hostMemory(Tensor tensor) {
        return Optional.empty();
    }
}
