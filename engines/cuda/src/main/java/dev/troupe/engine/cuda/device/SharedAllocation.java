package dev.troupe.engine.cuda.device;

import dev.troupe.engine.Memory;

/**
 * Memory of a device that several processes share, as one of them uses it.
 *
 * <p>Thread rule: any thread.
 */
public final class SharedAllocation implements Memory.Shared {
    private final Device device;
    private final long address;
    private final long byteCount;
    private final byte[] handle;
    private final Runnable end;
    private boolean isClosed;

    /**
     * Memory that this process shares, or has opened.
     *
     * @param device the device of this process with streams that reach it
     * @param address its beginning, for those streams
     * @param end ends its use in this process; called once, unless it raises an exception
     */
    public SharedAllocation(Device device, long address, long byteCount, byte[] handle, Runnable end) {
        this.device = device;
        this.address = address;
        this.byteCount = byteCount;
        this.handle = handle.clone();
        this.end = end;
    }

    /** The address of its beginning, for streams of the {@link #device}. */
    public long address() {
        return address;
    }

    /** The device of this process with streams that reach it. */
    public Device device() {
        return device;
    }

    @Override
    public long byteCount() {
        return byteCount;
    }

    @Override
    public byte[] handle() {
        return handle.clone();
    }

    @Override
    public synchronized void close() {
        if (!isClosed) {
            end.run();
            isClosed = true;
        }
    }
}
