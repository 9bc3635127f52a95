package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The engine in float32 on the interpreter. */
class CudaConformanceTest extends QuickConformance {
    @Override
    protected Engine open(int threads) {
        return Interpreted.engine(DataType.FLOAT32);
    }

    /** Kernels that are defined by others of this engine. */
    @Test
    void shouldFallBackToItsOwnKernelsAlone() {
        assertEquals(Set.of("linearGelu"), fallbacks(CudaEngine.class));
    }
}
