package dev.troupe.engine.cuda.device;

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
}
