package dev.troupe.engine.cuda;

import dev.troupe.engine.conformance.EngineConformance;
import org.junit.jupiter.api.extension.ExtendWith;

/** The cases of the conformance that an interpreter can run in a build. */
@ExtendWith(DrawnOrders.class)
abstract class QuickConformance extends EngineConformance {
    @Override
    protected int repeats() {
        return Interpreted.REPEATS;
    }

    @Override
    protected boolean takes(String kernelCase) {
        return Interpreted.isQuick(kernelCase);
    }

    @Override
    protected int shares() {
        return 3;
    }
}
