package dev.troupe.engine.bare;

import dev.troupe.engine.DataType;

/** An engine without kernels, with activations and products of bfloat16. */
class BareBfloat16ConformanceTest extends BareConformance {
    BareBfloat16ConformanceTest() {
        super(DataType.FLOAT32, DataType.BFLOAT16);
    }
}
