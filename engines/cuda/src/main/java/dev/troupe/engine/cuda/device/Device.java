package dev.troupe.engine.cuda.device;

import java.util.Optional;

/**
 * A device that runs the engine's kernels: a GPU with its driver, or an interpreter of the same PTX.
 *
 * <p>Thread rule: any thread.
 */
public interface Device {
    /** An empty queue of work on this device. The caller closes it. */
    DeviceStream openStream();

    /**
     * Whether the streams of this device read and write memory of a device of this process: the device itself, or a peer.
     * For a peer, access is enabled by this call.
     */
    boolean reaches(Device other);

    /**
     * Memory of this device that other processes can open, separate from the memory of its streams.
     *
     * @throws DeviceException if the driver refuses
     */
    SharedAllocation share(long bytes);

    /**
     * Memory that another process has shared; empty if this device does not reach it.
     *
     * @throws DeviceException if the driver refuses
     */
    Optional<SharedAllocation> openShared(byte[] handle);
}
