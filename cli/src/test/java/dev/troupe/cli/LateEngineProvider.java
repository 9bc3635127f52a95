package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.late.LateEngine;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import java.util.concurrent.atomic.AtomicLong;

/** Opens engines that compute late: those of another kind. */
public final class LateEngineProvider extends TestEngineProvider {
    static final String KIND = "late";
    private static final AtomicLong SEED = new AtomicLong();
    private static volatile EngineProvider other = new ReferenceEngineProvider();

    /** For {@link java.util.ServiceLoader}. */
    public LateEngineProvider() {
        super(KIND);
    }

    /** Opens engines of a kind from now on, with orders from a seed, one more for each engine. */
    static void open(String kind, long seed) {
        other = kind.equals(ReferenceEngine.KIND) ? new ReferenceEngineProvider() : new CpuEngineProvider();
        SEED.set(seed);
    }

    @Override
    public Engine create(EngineSettings settings) {
        return LateEngine.over(other.create(settings), SEED.getAndIncrement());
    }
}
