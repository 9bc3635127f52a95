package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.EngineConformance;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIf;

/** The engine with products of bfloat16 on a GPU, if one is present. */
@Tag("long")
@EnabledIf(value = "isThere", disabledReason = "no GPU here runs it: bench/gpu has the commands for one")
class CudaBfloat16DeviceConformanceTest extends EngineConformance {
    static boolean isThere() {
        return OnGpu.serves(DataType.BFLOAT16, CudaProducts.OWN);
    }

    @Override
    protected Engine open(int threads) {
        return OnGpu.open(DataType.BFLOAT16, CudaProducts.OWN);
    }
}
