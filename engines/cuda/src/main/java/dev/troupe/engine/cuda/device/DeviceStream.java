package dev.troupe.engine.cuda.device;

import dev.troupe.engine.Fence;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.engine.provider.LostDeviceException;
import java.lang.foreign.MemorySegment;

/**
 * A queue of work on a device: what is asked of it is done in that order, and mostly after the call has returned. Memory is
 * allocated and freed in the same order, so that what is freed may still be read by what was asked before.
 *
 * <p>Thread rule: any thread; {@link #launch} with arguments of the calling thread's own.
 *
 * <p>Errors: a refused call raises {@link DeviceException}. What fails on the device raises {@link LostDeviceException},
 * from the call or from a later one of any stream, and so does every call after it, but for {@link #free} and
 * {@link #close}, which then have no effect: the memory is gone.
 */
public interface DeviceStream extends AutoCloseable {
    /** Memory on the device, of which nothing is known, at a multiple of 256 bytes. */
    long allocate(long bytes);

    /** Gives back what was allocated at this address. */
    void free(long address);

    /** Writes a word {@code words} times from an address on, which is a multiple of 4. */
    void fill(long address, int word, long words);

    /** Writes zeros. */
    void clear(long address, long bytes);

    /** Copies bytes from one place on the device to another; the two do not overlap. */
    void copy(long source, long target, long bytes);

    /**
     * Copies bytes of the device to host memory, native or on the heap, and returns when they are there: after all that was
     * asked before.
     */
    void toHost(long source, MemorySegment target);

    /**
     * Copies bytes of host memory, native or on the heap, to the device, and returns when they have been read: before they
     * are there.
     */
    void fromHost(MemorySegment source, long target);

    /** Runs a kernel of the engine's module on {@code columns} x {@code rows} blocks of {@code threads} threads. */
    void launch(String kernel, int columns, int rows, int threads, Arguments arguments);

    /**
     * The driver's handle of this stream, for a library that asks the device for work of its own; the device is current to
     * the calling thread from then on.
     */
    long handle();

    /** The point behind all that was asked so far. */
    Fence fence();

    /**
     * What is asked of this stream from here on begins once a fence of a stream of a device of this process is reached; the
     * caller does not wait. For any other fence it does.
     */
    void waitFor(Fence fence);

    /** Instants at which this stream reaches what is marked, on the device's clock as that of the host shows it. */
    Instants instants(int count);

    /** Waits for what was asked, and frees the queue. Closing twice has no effect. */
    @Override
    void close();
}
