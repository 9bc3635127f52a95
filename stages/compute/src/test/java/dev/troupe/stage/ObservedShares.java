package dev.troupe.stage;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.KernelHook;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.parallel.TensorShare;
import java.lang.foreign.MemorySegment;

/** Whole stages on {@code reference}, with a test that sees the result of each kernel. */
abstract class ObservedShares implements NaivePipeline.Shares {
    /** Receives the result of a kernel, in the order of calls. */
    abstract void ended(ReferenceEngine engine, Kernel kernel, Tensor result);

    /** Returns the numbers of a tensor of float64. */
    static double[] numbers(Engine engine, Tensor tensor) {
        double[] numbers = new double[(int) tensor.shape().elementCount()];
        engine.copyToHost(tensor, 0, MemorySegment.ofArray(numbers));
        return numbers;
    }

    @Override
    public final TensorShare of(int stage, Engine engine) {
        return TensorShare.ALL;
    }

    @Override
    public final Engine engine(DataType parameterType) {
        ReferenceEngine engine = new ReferenceEngine(parameterType);
        engine.observe(new KernelHook() {
            @Override
            public void ended(Kernel kernel, long begun, Tensor result) {
                ObservedShares.this.ended(engine, kernel, result);
            }
        });
        return engine;
    }
}
