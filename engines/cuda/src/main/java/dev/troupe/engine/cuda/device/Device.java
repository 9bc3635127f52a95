package dev.troupe.engine.cuda.device;

import java.util.Optional;

/**
 * What can run the engine's kernels: a GPU behind its driver, or an interpreter of the same PTX.
 *
 * <p>Thread rule: any thread.
 */
public interface Device {
    /** Its name, for a person. */
    String name();

    /** A queue of work on this device, with nothing in it. The caller closes it. */
    DeviceStream openStream();

    /**
     * Whether the streams of this device, copies and kernels, read and write memory of a device of this process: the device
     * itself, or a peer. Where it is one, they may from now on.
     */
    boolean reaches(Device other);

    /**
     * Memory of this device that other processes can open, beside that of its streams.
     *
     * @throws DeviceException where the driver refuses
     */
    SharedAllocation share(long bytes);

    /**
     * Memory that another process has shared; empty where it is of a device that this one does not reach.
     *
     * @throws DeviceException where the driver refuses
     */
    Optional<SharedAllocation> openShared(byte[] handle);
}
