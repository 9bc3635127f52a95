package dev.troupe.engine.nd4j;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.EngineConformance;
import dev.troupe.engine.provider.EngineSettings;

/** float32, always one thread: engines that are open together must agree on the number. */
class Nd4jFloat32ConformanceTest extends EngineConformance {
    @Override
    protected Engine open(int threads) {
        return new Nd4jEngineProvider().open(new EngineSettings(DataType.FLOAT32, 1));
    }

    @Override
    protected boolean dropsOut() {
        return false;
    }

    @Override
    protected int shares() {
        return 4;
    }
}
