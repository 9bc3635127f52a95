package dev.troupe.engine.provider;

import dev.troupe.engine.DataType;

/**
 * How an engine is to be opened.
 *
 * @param parameterType the type of weights, gradients and sums: {@link DataType#FLOAT32} or {@link DataType#FLOAT64}
 * @param computeType the type of activations and of what products read: the float type, or {@link DataType#BFLOAT16}
 *     beside FLOAT32
 * @param threads threads a kernel may use, at least 1
 * @param costs what an engine that keeps time instead of computing is told; others do not ask
 * @param device the device, where {@link EngineProvider#hasDevices}
 * @param products the libraries of matrix products, where the engine has {@link EngineProvider#productLibraries}
 */
public record EngineSettings(DataType parameterType, DataType computeType, int threads, WorkCosts costs,
        DevicePick device, String products)
        implements
            Need {
    /** The products of an engine that is not told otherwise: by the library that it brings and knows best. */
    public static final String OWN_PRODUCTS = "";

    public EngineSettings {
        if (parameterType != DataType.FLOAT32 && parameterType != DataType.FLOAT64) {
            throw new IllegalArgumentException("an engine computes in FLOAT32 or FLOAT64, not in " + parameterType);
        }
        if (computeType != parameterType && (computeType != DataType.BFLOAT16 || parameterType != DataType.FLOAT32)) {
            throw new IllegalArgumentException("an engine of " + parameterType + " has products of " + parameterType
                    + ", or of BFLOAT16 with FLOAT32 weights, but not of " + computeType);
        }
        if (threads < 1) {
            throw new IllegalArgumentException("an engine needs at least 1 thread, but found " + threads);
        }
    }

    /** Settings of an engine that takes the first device, where it has devices. */
    public EngineSettings(DataType parameterType, DataType computeType, int threads, WorkCosts costs) {
        this(parameterType, computeType, threads, costs, DevicePick.FIRST, OWN_PRODUCTS);
    }

    /** Settings of an engine that computes. */
    public EngineSettings(DataType parameterType, DataType computeType, int threads) {
        this(parameterType, computeType, threads, (_, _) -> 0);
    }

    /** Settings of an engine that computes everything in one type. */
    public EngineSettings(DataType parameterType, int threads) {
        this(parameterType, parameterType, threads);
    }

    /** Whether products read a narrower type than the one they add in. */
    public boolean mixesTypes() {
        return computeType != parameterType;
    }

    /** These settings with other costs. */
    public EngineSettings withCosts(WorkCosts others) {
        return new EngineSettings(parameterType, computeType, threads, others, device, products);
    }

    /** These settings with another device. */
    public EngineSettings withDevice(DevicePick other) {
        return new EngineSettings(parameterType, computeType, threads, costs, other, products);
    }

    /** These settings with other libraries of matrix products. */
    public EngineSettings withProducts(String others) {
        return new EngineSettings(parameterType, computeType, threads, costs, device, others);
    }
}
