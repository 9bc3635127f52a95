package dev.troupe.engine.check;

import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;

/**
 * An observer of an engine's calls that take time: kernels, allocations, and copies from and to the host.
 *
 * <p>Thread rule: the methods run on the thread that makes the call, which may be any.
 */
public interface KernelHook {
    KernelHook NONE = new KernelHook() {
    };

    /**
     * A call begins; its operands have passed the checks.
     *
     * @return passed to {@link #ended}
     */
    default long begins(Kernel kernel) {
        return 0;
    }

    /** A kernel has multiplied matrices: each element of the product is the sum of {@code terms} products. */
    default void multiplied(Kernel kernel, Tensor product, int terms) {
    }

    /**
     * A call has returned; one that throws has no end. An engine that computes late has taken the order.
     *
     * @param begun the result of {@link #begins}
     * @param result the tensor that the call wrote, the first if there are several; of a copy to the host its source
     */
    default void ended(Kernel kernel, long begun, Tensor result) {
    }
}
