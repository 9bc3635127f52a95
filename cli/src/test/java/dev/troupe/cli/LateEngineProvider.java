package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.check.KernelHook;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.late.LateEngine;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Engines of another kind that compute late. */
public final class LateEngineProvider extends TestEngineProvider {
    static final String KIND = "late";
    private static final AtomicLong SEED = new AtomicLong();
    private static volatile EngineProvider other = new ReferenceEngineProvider();
    private static volatile long napNanos;

    /** For {@link java.util.ServiceLoader}. */
    public LateEngineProvider() {
        super(KIND);
    }

    /** Opens engines of a kind from now on, with orders from a seed, one more for each engine. */
    static void open(String kind, long seed) {
        other = kind.equals(ReferenceEngine.KIND) ? new ReferenceEngineProvider() : new CpuEngineProvider();
        SEED.set(seed);
        napNanos = 0;
    }

    /** The engines that are opened from now on take at least so long for each norm. */
    static void nap(Duration nap) {
        napNanos = nap.toNanos();
    }

    /** Norms take their time. */
    private static final class SlowNorms implements KernelHook {
        private final long nanos = napNanos;

        @Override
        public long begins(Kernel kernel) {
            long end = System.nanoTime() + (kernel == Kernel.LAYER_NORM ? nanos : 0);
            for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            return 0;
        }
    }

    @Override
    public Engine create(EngineSettings settings) {
        CheckedEngine slow = other.open(settings);
        slow.observe(new SlowNorms());
        return LateEngine.over(slow, SEED.getAndIncrement());
    }
}
