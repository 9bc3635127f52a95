package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;

/** The engine in float32 on the interpreter. */
class CudaConformanceTest extends QuickConformance {
    @Override
    protected Engine open(int threads) {
        return Interpreted.engine(DataType.FLOAT32);
    }
}
