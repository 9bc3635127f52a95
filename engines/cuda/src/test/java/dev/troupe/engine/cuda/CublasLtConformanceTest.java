package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;

/** Products in float32 by a stand-in for cuBLASLt, and by own kernels if it refuses them. */
class CublasLtConformanceTest extends QuickConformance {
    @Override
    protected Engine open(int threads) {
        return Interpreted.withCublasLt(Interpreted.device(), DataType.FLOAT32);
    }

    @Override
    protected boolean takes(String kernelCase) {
        return super.takes(kernelCase) && (kernelCase.startsWith("matmul") || kernelCase.startsWith("linear"));
    }
}
