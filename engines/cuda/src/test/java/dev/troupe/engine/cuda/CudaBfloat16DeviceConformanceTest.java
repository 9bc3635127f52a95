package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.EngineConformance;
import dev.troupe.engine.provider.EngineSettings;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIf;

/** The engine with products of bfloat16 on a GPU, where there is one. */
@Tag("long")
@EnabledIf("isThere")
class CudaBfloat16DeviceConformanceTest extends EngineConformance {
    static boolean isThere() {
        return new CudaEngineProvider().serves(settings());
    }

    private static EngineSettings settings() {
        return new EngineSettings(DataType.FLOAT32, DataType.BFLOAT16, 1);
    }

    @Override
    protected Engine open(int threads) {
        return new CudaEngineProvider().open(settings());
    }
}
