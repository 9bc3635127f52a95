package dev.troupe.engine.bare;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.conformance.EngineConformance;

/** The test suite of an engine without kernels, of a type of parameters and a type of products. */
abstract class BareConformance extends EngineConformance {
    private final DataType parameterType;
    private final DataType computeType;

    BareConformance(DataType parameterType, DataType computeType) {
        this.parameterType = parameterType;
        this.computeType = computeType;
    }

    @Override
    protected Engine open(int threads) {
        return new CheckedEngine(new BareEngine(parameterType, computeType));
    }

    /** One thread and plain loops: each call takes the same path, so a few repetitions suffice. */
    @Override
    protected int repeats() {
        return 2;
    }

    @Override
    protected int shares() {
        return 4;
    }
}
