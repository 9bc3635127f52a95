package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.EngineConformance;

/** The engine in float32 on the interpreter. */
class CudaConformanceTest extends EngineConformance {
    @Override
    protected Engine open(int threads) {
        return Interpreted.engine(DataType.FLOAT32);
    }

    @Override
    protected int repeats() {
        return Interpreted.REPEATS;
    }

    @Override
    protected boolean takes(String kernelCase) {
        return Interpreted.isQuick(kernelCase);
    }
}
