package dev.troupe.engine.late;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.conformance.EngineConformance;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngineProvider;

/** The reference engine, late, keeps the contract of engines; each test draws its own orders. */
class LateConformanceTest extends EngineConformance {
    private long seed;

    @Override
    protected Engine open(int threads) {
        return new CheckedEngine(LateEngine
                .over(new ReferenceEngineProvider().create(new EngineSettings(DataType.FLOAT32, threads)), seed++));
    }

    @Override
    protected int repeats() {
        return 1;
    }

    /** Kernels are the other engine's, so a few of them suffice. */
    @Override
    protected boolean takes(String kernelCase) {
        return kernelCase.startsWith("add ") || kernelCase.startsWith("embedding");
    }
}
