package dev.troupe.rank.fault;

import dev.troupe.config.fault.FaultKind;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.KernelHook;
import java.util.Optional;

/** The kernel hook that may flip a bit in a result. It passes each call to another hook first. */
final class FlippingHook implements KernelHook {
    private final KernelHook other;
    private final Engine engine;
    private final BitFlips flips;

    /**
     * @param other sees every call, before a bit of its result flips
     * @param flips decides which results are struck
     */
    FlippingHook(KernelHook other, Engine engine, BitFlips flips) {
        this.other = other;
        this.engine = engine;
        this.flips = flips;
    }

    @Override
    public long begins(Kernel kernel) {
        return other.begins(kernel);
    }

    @Override
    public void multiplied(Kernel kernel, Tensor product, int terms) {
        other.multiplied(kernel, product, terms);
    }

    @Override
    public void ended(Kernel kernel, long begun, Tensor result) {
        other.ended(kernel, begun, result);
        kindFor(kernel).ifPresent(kind -> flips.made(kind, engine, result));
    }

    /**
     * Returns the kind of fault that can strike the result of a kernel; empty for kernels that only move numbers, or only
     * sum or digest them.
     */
    private static Optional<FaultKind> kindFor(Kernel kernel) {
        return switch (kernel.kind()) {
            case TRANSFER, REPORT -> Optional.empty();
            case NORM -> Optional.of(FaultKind.FLIP_NORM_BIT);
            case ARITHMETIC -> Optional.of(FaultKind.FLIP_BIT);
        };
    }
}
