package dev.troupe.engine.cuda.device;

import dev.troupe.engine.provider.Finding;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The GPUs of a machine, in the order of their driver.
 *
 * <p>Thread rule: any thread.
 */
public interface Gpus {
    /**
     * One GPU.
     *
     * @param ordinal its number in the driver's order, from 0
     * @param capability its compute capability: 8.0 is 80
     */
    record Gpu(int ordinal, String name, long memoryBytes, int capability) {
        @Override
        public String toString() {
            return String.format(Locale.ROOT, "GPU %d (%s, %.1f GiB, compute capability %d.%d)", ordinal, name,
                    memoryBytes / (double) (1L << 30), capability / 10, capability % 10);
        }
    }

    List<Finding> findings();

    /** Why there are none, in one sentence; empty if there are some. */
    Optional<String> obstacle();

    /** Returns all GPUs, the first with ordinal 0; none if there is an {@link #obstacle}. */
    List<Gpu> list();

    /** The driver's version of CUDA, as in {@code 13.0}; empty if there is an {@link #obstacle}. */
    String version();

    /**
     * Opens a GPU of the list; the same device each time.
     *
     * @param ptx returns the engine's kernels; called when the GPU is first opened
     * @throws DeviceException if the driver refuses the GPU or the kernels
     */
    Device open(Gpu gpu, Supplier<String> ptx);
}
