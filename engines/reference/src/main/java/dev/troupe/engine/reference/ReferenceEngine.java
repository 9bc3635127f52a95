package dev.troupe.engine.reference;

import dev.troupe.engine.DataType;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.provider.EngineSettings;

/**
 * The engine against which all others are tested. It computes in float64; each result is rounded once, to the type of its
 * tensor.
 *
 * <p>Thread rule: as of {@link dev.troupe.engine.Engine}; tensors may also be allocated and closed on any thread.
 */
public final class ReferenceEngine extends CheckedEngine {
    public static final String KIND = "reference";

    /**
     * Creates an engine with parameters and products of the same type.
     *
     * @param parameterType {@link DataType#FLOAT64} or {@link DataType#FLOAT32}
     */
    public ReferenceEngine(DataType parameterType) {
        this(new EngineSettings(parameterType, 1));
    }

    public ReferenceEngine(EngineSettings settings) {
        super(new ReferenceKernels(settings));
    }
}
