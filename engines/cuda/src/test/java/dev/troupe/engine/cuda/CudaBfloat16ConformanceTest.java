package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.EngineConformance;

/** The engine with products of bfloat16 on the interpreter. */
class CudaBfloat16ConformanceTest extends EngineConformance {
    @Override
    protected Engine open(int threads) {
        return Interpreted.engine(DataType.BFLOAT16);
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
