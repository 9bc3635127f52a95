package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.late.WrappedEngine.Around;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The reference engine as on a machine that is a hundred times slower: kernels take a time that a person would notice.
 * Only the first of each rank do, which make up its first action and more, so that a test has an end.
 */
public final class SlowEngineProvider extends WrappingEngineProvider {
    static final String KIND = "slow";
    /** Of a small model's kernel, which takes less than a fiftieth of it. */
    static final Duration KERNEL = Duration.ofMillis(60);
    private static final int SLOW_KERNELS = 40;

    /** For {@link java.util.ServiceLoader}. */
    public SlowEngineProvider() {
        super(KIND);
    }

    @Override
    Around around(Engine engine) {
        AtomicInteger kernels = new AtomicInteger();
        return (method, arguments) -> {
            if (method.getReturnType() == void.class
                    && Arrays.asList(method.getParameterTypes()).contains(Tensor.class)
                    && kernels.getAndIncrement() < SLOW_KERNELS) {
                long end = System.nanoTime() + KERNEL.toNanos();
                for (long left = KERNEL.toNanos(); left > 0; left = end - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
            }
            return WrappedEngine.call(engine, method, arguments);
        };
    }
}
