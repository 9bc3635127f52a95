package dev.troupe.engine.bare;

import dev.troupe.engine.DataType;

/** An engine without kernels, in float64. */
class BareFloat64ConformanceTest extends BareConformance {
    BareFloat64ConformanceTest() {
        super(DataType.FLOAT64, DataType.FLOAT64);
    }
}
