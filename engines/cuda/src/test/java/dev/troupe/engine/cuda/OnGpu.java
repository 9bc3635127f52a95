package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;

/** Engines on a GPU of this machine, if it has one. */
final class OnGpu {
    private static final EngineProvider PROVIDER = new CudaEngineProvider();

    private OnGpu() {
    }

    /** Whether an engine of a type with such products is available. */
    static boolean serves(DataType computeType, String products) {
        return PROVIDER.serves(settings(computeType, products))
                && PROVIDER.productLibraries().orElseThrow().obstacle(products, computeType).isEmpty();
    }

    static Engine open(DataType computeType, String products) {
        return PROVIDER.open(settings(computeType, products));
    }

    private static EngineSettings settings(DataType computeType, String products) {
        return new EngineSettings(DataType.FLOAT32, computeType, 1).withProducts(products);
    }
}
