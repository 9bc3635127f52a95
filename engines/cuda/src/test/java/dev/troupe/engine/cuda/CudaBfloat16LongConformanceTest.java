package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.EngineConformance;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The engine with products of bfloat16 on the interpreter: all cases, and the same bytes in 30 drawn orders. */
@Tag("long")
@ExtendWith(DrawnOrders.class)
class CudaBfloat16LongConformanceTest extends EngineConformance {
    @Override
    protected Engine open(int threads) {
        return Interpreted.engine(DataType.BFLOAT16);
    }
}
