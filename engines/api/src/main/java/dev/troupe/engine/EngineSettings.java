package dev.troupe.engine;

/**
 * How an engine is to be opened.
 *
 * @param floatType
 *            the type of weights, gradients and activations: {@link DataType#FLOAT32} or {@link DataType#FLOAT64}
 * @param threads
 *            threads a kernel may use, at least 1
 */
public record EngineSettings(DataType floatType, int threads) {
    public EngineSettings {
        if (floatType == DataType.INT32) {
            throw new IllegalArgumentException("an engine computes in FLOAT32 or FLOAT64, not in " + floatType);
        }
        if (threads < 1) {
            throw new IllegalArgumentException("an engine needs at least 1 thread, but found " + threads);
        }
    }
}
