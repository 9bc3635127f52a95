package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.EngineConformance;
import dev.troupe.engine.provider.EngineSettings;

/** Activations and products of bfloat16, with the threads of each case. */
class CpuBfloat16OneThreadConformanceTest extends EngineConformance {
    @Override
    protected Engine open(int threads) {
        return new CpuEngineProvider()
                .open(new EngineSettings(DataType.FLOAT32, DataType.BFLOAT16, threads));
    }

    @Override
    protected int shares() {
        return 4;
    }
}
