package dev.troupe.engine;

/**
 * How an engine is to be opened.
 *
 * @param floatType
 *            the type of weights, gradients and activations: {@link DataType#FLOAT32} or {@link DataType#FLOAT64}
 * @param threads
 *            threads a kernel may use, at least 1
 * @param costs
 *            what an engine that keeps time instead of computing is told; others do not ask
 */
public record EngineSettings(DataType floatType, int threads, WorkCosts costs) {
    public EngineSettings {
        if (floatType == DataType.INT32) {
            throw new IllegalArgumentException("an engine computes in FLOAT32 or FLOAT64, not in " + floatType);
        }
        if (threads < 1) {
            throw new IllegalArgumentException("an engine needs at least 1 thread, but found " + threads);
        }
    }

    /** Settings of an engine that computes. */
    public EngineSettings(DataType floatType, int threads) {
        this(floatType, threads, (_, _) -> 0);
    }
}
