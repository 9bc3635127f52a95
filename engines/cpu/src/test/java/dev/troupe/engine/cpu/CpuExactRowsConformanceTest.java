package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.EngineConformance;
import dev.troupe.engine.provider.EngineSettings;

/** Two threads, and rows of the same bits whatever other rows there are. */
class CpuExactRowsConformanceTest extends EngineConformance {
    @Override
    protected Engine open(int threads) {
        return new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, 2).withExactRows(true));
    }

    @Override
    protected int shares() {
        return 4;
    }
}
