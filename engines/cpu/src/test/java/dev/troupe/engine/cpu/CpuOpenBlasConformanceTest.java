package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineSettings;

class CpuOpenBlasConformanceTest extends QuickProducts {
    @Override
    protected Engine open(int threads) {
        return new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, threads).withProducts("openblas"));
    }
}
