package dev.troupe.engine.fallback;

import dev.troupe.engine.Tensor;

/**
 * The operands of one kernel as arrays of the host. Numbers are float64 whatever the type of their tensor, and are rounded
 * once, when they are stored.
 */
public interface HostOperands {
    /** The numbers of an input. */
    double[] read(Tensor input);

    /** The integers of an input. */
    int[] ids(Tensor input);

    /** An array for an output that the kernel overwrites completely; its initial contents are arbitrary. */
    double[] output(Tensor output);

    /** An array for an output of integers that the kernel overwrites completely; its initial contents are arbitrary. */
    int[] idsOutput(Tensor output);

    /** The numbers of an output that the kernel adds to, or changes in part. */
    double[] changed(Tensor output);

    /** Stores the outputs so far, so that other kernels may read them. Called once more when the kernel has ended. */
    void store();

    default double[] readOrNull(Tensor input) {
        return input == null ? null : read(input);
    }

    default int[] idsOrNull(Tensor input) {
        return input == null ? null : ids(input);
    }

    default double[] changedOrNull(Tensor output) {
        return output == null ? null : changed(output);
    }
}
