package dev.troupe.engine.conformance;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.reference.ReferenceEngine;

/** The reference engine in float32 against itself in float64. */
class ReferenceConformanceTest extends EngineConformance {
    @Override
    protected Engine open(int threads) {
        return new ReferenceEngine(DataType.FLOAT32);
    }

    /** One thread and plain loops: each call takes the same path, so a few repetitions suffice. */
    @Override
    protected int repeats() {
        return 2;
    }
}
