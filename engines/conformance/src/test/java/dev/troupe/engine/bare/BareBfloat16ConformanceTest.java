package dev.troupe.engine.bare;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.conformance.EngineConformance;

/** An engine without kernels, with activations and products of bfloat16. */
class BareBfloat16ConformanceTest extends EngineConformance {
    @Override
    protected Engine open(int threads) {
        return new CheckedEngine(new BareEngine(DataType.FLOAT32, DataType.BFLOAT16));
    }

    /** One thread and plain loops: each call takes the same path, so a few repetitions suffice. */
    @Override
    protected int repeats() {
        return 2;
    }

    @Override
    protected int shares() {
        return 4;
    }
}
