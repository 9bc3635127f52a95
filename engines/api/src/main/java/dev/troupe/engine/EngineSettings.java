package dev.troupe.engine;

/**
 * How an engine is to be opened.
 *
 * @param floatType
 *            the type of weights, gradients and sums: {@link DataType#FLOAT32} or {@link DataType#FLOAT64}
 * @param productType
 *            the type of activations and of what products read: the float type, or {@link DataType#BFLOAT16} beside
 *            FLOAT32
 * @param threads
 *            threads a kernel may use, at least 1
 * @param costs
 *            what an engine that keeps time instead of computing is told; others do not ask
 */
public record EngineSettings(DataType floatType, DataType productType, int threads, WorkCosts costs) {
    public EngineSettings {
        if (floatType != DataType.FLOAT32 && floatType != DataType.FLOAT64) {
            throw new IllegalArgumentException("an engine computes in FLOAT32 or FLOAT64, not in " + floatType);
        }
        if (productType != floatType && (productType != DataType.BFLOAT16 || floatType != DataType.FLOAT32)) {
            throw new IllegalArgumentException("an engine of " + floatType + " has products of " + floatType
                    + ", or of BFLOAT16 beside FLOAT32, but not of " + productType);
        }
        if (threads < 1) {
            throw new IllegalArgumentException("an engine needs at least 1 thread, but found " + threads);
        }
    }

    /** Settings of an engine that computes. */
    public EngineSettings(DataType floatType, DataType productType, int threads) {
        this(floatType, productType, threads, (_, _) -> 0);
    }

    /** Settings of an engine that computes everything in one type. */
    public EngineSettings(DataType floatType, int threads) {
        this(floatType, floatType, threads);
    }

    /** Whether products read a narrower type than the one they add in. */
    public boolean mixesTypes() {
        return productType != floatType;
    }

    /** These settings with other costs. */
    public EngineSettings withCosts(WorkCosts others) {
        return new EngineSettings(floatType, productType, threads, others);
    }
}
