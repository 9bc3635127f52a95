package dev.troupe.bench.kernels;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Tensor;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;

/** Casts, which only an engine of two types has. Sizes and thread rule as of {@link Workbench}. */
public class CastKernels extends Workbench {
    /** Four bytes read and two written for each element. */
    private static final double FLOATS_OF_AN_ELEMENT = 1.5;

    static final List<KernelWork> WORK = List.of(KernelWork.memory(CastKernels.class, "cast",
            "[%d x %d] to bfloat16".formatted(N, C), FLOATS_OF_AN_ELEMENT * N * C));

    private Tensor weights;
    private Tensor rounded;

    @Override
    DataType computeType() {
        return DataType.BFLOAT16;
    }

    @Override
    void layOut() {
        weights = floats(N, C);
        rounded = engine().allocate(computeType(), weights.shape());
    }

    /** Of weights, after an update. */
    @Benchmark
    public void cast() {
        engine().cast(weights, rounded);
    }
}
