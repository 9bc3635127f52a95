package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.EngineConformance;
import dev.troupe.engine.provider.EngineSettings;
import org.junit.jupiter.api.Tag;

@Tag("long")
class CpuOpenBlasLongConformanceTest extends EngineConformance {
    @Override
    protected Engine open(int threads) {
        return new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, threads).withProducts("openblas"));
    }
}
