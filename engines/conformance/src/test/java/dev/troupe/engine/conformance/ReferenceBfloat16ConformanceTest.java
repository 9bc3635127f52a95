package dev.troupe.engine.conformance;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngine;

/** The reference engine in mixed precision against itself in float64. */
class ReferenceBfloat16ConformanceTest extends EngineConformance {
    @Override
    protected Engine open(int threads) {
        return new ReferenceEngine(new EngineSettings(DataType.FLOAT32, DataType.BFLOAT16, threads));
    }

    /** One thread and plain loops: each call takes the same path, so a few repetitions suffice. */
    @Override
    protected int repeats() {
        return 2;
    }

    @Override
    protected int shares() {
        return 3;
    }
}
