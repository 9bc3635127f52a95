package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.EngineConformance;
import dev.troupe.engine.provider.EngineSettings;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The threads that a test asks for. */
class CpuOneThreadConformanceTest extends EngineConformance {
    @Override
    protected Engine open(int threads) {
        return new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, threads));
    }

    /** Kernels that are defined by others of this engine. */
    @Test
    void shouldFallBackToItsOwnKernelsAlone() {
        assertEquals(Set.of("crossEntropyBoth", "layerNormBackward", "rmsNormBackward"), fallbacks(CpuEngine.class));
    }
}
