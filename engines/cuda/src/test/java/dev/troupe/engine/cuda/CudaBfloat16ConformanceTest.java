package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;

/** The engine with products of bfloat16 on the interpreter. */
class CudaBfloat16ConformanceTest extends QuickConformance {
    @Override
    protected Engine open(int threads) {
        return Interpreted.engine(DataType.BFLOAT16);
    }
}
