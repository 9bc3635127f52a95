package dev.troupe.engine.cuda.device;

import dev.troupe.engine.Fence;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.engine.provider.LostDeviceException;
import java.lang.foreign.MemorySegment;

/**
 * A queue of work on a device. Work is done in the order of the calls, usually after the call has returned. Memory is
 * allocated and freed in the same order, so that earlier work may still read freed memory.
 *
 * <p>Thread rule: any thread; {@link #launch} with arguments that the calling thread alone uses.
 *
 * <p>Errors: a refused call raises {@link DeviceException}. A failure on the device raises {@link LostDeviceException},
 * from the call or from a later one of any stream, and so does every call after it, except {@link #free} and
 * {@link #close}, which then have no effect: the memory is lost.
 */
public interface DeviceStream extends AutoCloseable {
    /** Memory on the device with arbitrary contents, aligned to 256 bytes. */
    long allocate(long bytes);

    /** Frees the memory that was allocated at this address. */
    void free(long address);

    /** Writes a word {@code words} times from an address on, which is a multiple of 4. */
    void fill(long address, int word, long words);

    void clear(long address, long bytes);

    /** Copies bytes from one place on the device to another; the two do not overlap. */
    void copy(long source, long target, long bytes);

    /**
     * Copies bytes of the device to host memory, native or on the heap, after all earlier work, and returns when they have
     * arrived.
     */
    void toHost(long source, MemorySegment target);

    /**
     * Copies bytes of host memory, native or on the heap, to the device, and returns after they have been read, perhaps
     * before their arrival.
     */
    void fromHost(MemorySegment source, long target);

    /** Runs a kernel of the engine's module on {@code columns} x {@code rows} blocks of {@code threads} threads. */
    void launch(String kernel, int columns, int rows, int threads, LaunchArguments arguments);

    /**
     * The driver's handle of this stream, for a library that launches its own work; makes the device current to the calling
     * thread.
     */
    long handle();

    /** The point after all work so far. */
    Fence fence();

    /**
     * Makes all further work begin after a fence is reached. The caller does not wait for a fence of a stream in this
     * process, and waits for any other.
     */
    void waitFor(Fence fence);

    /** Instants of marks on this stream, by the device's clock, converted to the host's. */
    Instants instants(int count);

    /** Waits for pending work, and frees the queue. Closing twice has no effect. */
    @Override
    void close();
}
