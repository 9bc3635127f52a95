package dev.troupe.engine.bare;

import dev.troupe.engine.DataType;

/** An engine without kernels, in float32. */
class BareFloat32ConformanceTest extends BareConformance {
    BareFloat32ConformanceTest() {
        super(DataType.FLOAT32, DataType.FLOAT32);
    }
}
