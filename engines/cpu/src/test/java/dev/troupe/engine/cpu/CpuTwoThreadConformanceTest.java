package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.EngineConformance;
import dev.troupe.engine.provider.EngineSettings;

/** Always two threads. */
class CpuTwoThreadConformanceTest extends EngineConformance {
    @Override
    protected Engine open(int threads) {
        return new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, 2));
    }

    @Override
    protected int shares() {
        return 4;
    }
}
