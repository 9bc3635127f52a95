package dev.troupe.engine.provider;

import dev.troupe.engine.DataType;

/**
 * The settings with which an engine is opened.
 *
 * @param parameterType the type of weights, gradients and sums: {@link DataType#FLOAT32} or {@link DataType#FLOAT64}
 * @param computeType the type of activations and of operands of products: the parameter type, or {@link DataType#BFLOAT16}
 *     with FLOAT32 parameters
 * @param threads threads of a kernel, at least 1
 * @param costs for an engine that keeps time instead of computing
 * @param device for an engine with devices ({@link EngineProvider#hasDevices})
 * @param products the choice among {@link EngineProvider#productLibraries}, for an engine that has any
 * @param floatParts numbers of bfloat16 for each float in products of an engine that can split: 2 or 3; 0: whole floats
 * @param exactRows whether a row of the forward has the same bits whatever other rows are computed in the same call
 */
public record EngineSettings(DataType parameterType, DataType computeType, int threads, WorkCosts costs,
        DevicePick device, String products, int floatParts, boolean exactRows)
        implements
            Need {
    /** The default: products by the engine's own library. */
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

    public EngineSettings(DataType parameterType, DataType computeType, int threads, WorkCosts costs) {
        this(parameterType, computeType, threads, costs, DevicePick.FIRST, OWN_PRODUCTS, 0, false);
    }

    public EngineSettings(DataType parameterType, DataType computeType, int threads) {
        this(parameterType, computeType, threads, (_, _) -> 0);
    }

    public EngineSettings(DataType parameterType, int threads) {
        this(parameterType, parameterType, threads);
    }

    /** Whether products read a narrower type than they sum in. */
    public boolean mixesTypes() {
        return computeType != parameterType;
    }

    public EngineSettings withCosts(WorkCosts others) {
        return new EngineSettings(parameterType, computeType, threads, others, device, products, floatParts, exactRows);
    }

    public EngineSettings withDevice(DevicePick other) {
        return new EngineSettings(parameterType, computeType, threads, costs, other, products, floatParts, exactRows);
    }

    public EngineSettings withProducts(String others) {
        return new EngineSettings(parameterType, computeType, threads, costs, device, others, floatParts, exactRows);
    }

    public EngineSettings withFloatParts(int parts) {
        return new EngineSettings(parameterType, computeType, threads, costs, device, products, parts, exactRows);
    }

    public EngineSettings withExactRows(boolean exact) {
        return new EngineSettings(parameterType, computeType, threads, costs, device, products, floatParts, exact);
    }
}
