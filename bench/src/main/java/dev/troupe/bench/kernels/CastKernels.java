package dev.troupe.bench.kernels;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Tensor;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.annotations.Benchmark;

/**
 * Casts, which only an engine with two types needs, and updates of weights followed by a cast. Sizes and thread rule as of
 * {@link Workbench}.
 */
public class CastKernels extends Workbench {
    /** Four bytes read and two written for each element. */
    private static final double FLOATS_OF_AN_ELEMENT = 1.5;

    private static final String SIZES = String.format(Locale.ROOT, "[%d x %d] to bfloat16", N, C);
    private static final double FLOATS_OF_AN_UPDATE = 8;

    static final List<KernelWork> WORK = List.of(
            KernelWork.memory(CastKernels.class, "cast", SIZES, FLOATS_OF_AN_ELEMENT * N * C),
            KernelWork.memory(CastKernels.class, "adamWThenCast", SIZES + ", two kernels",
                    (FLOATS_OF_AN_UPDATE + FLOATS_OF_AN_ELEMENT) * N * C),
            KernelWork.memory(CastKernels.class, "adamWWithOperands", SIZES + ", in one",
                    (FLOATS_OF_AN_UPDATE + FLOATS_OF_AN_ELEMENT) * N * C));

    private Tensor weights;
    private Tensor gradients;
    private Tensor firstMoment;
    private Tensor secondMoment;
    private Tensor rounded;

    @Override
    DataType computeType() {
        return DataType.BFLOAT16;
    }

    @Override
    void layOut() {
        weights = floats(N, C);
        gradients = floats(N, C);
        firstMoment = floats(N, C);
        secondMoment = floats(N, C);
        engine().fill(secondMoment, 1);
        rounded = engine().allocate(computeType(), weights.shape());
    }

    /** The cast of weights, as after an update. */
    @Benchmark
    public void cast() {
        engine().cast(weights, rounded);
    }

    /** An update and a cast, in two kernels. */
    @Benchmark
    public void adamWThenCast() {
        engine().adamW(weights, gradients, firstMoment, secondMoment, OptimizerKernels.UPDATE);
        engine().cast(weights, rounded);
    }

    /** An update that also writes the result of the cast. */
    @Benchmark
    public void adamWWithOperands() {
        engine().adamW(weights, gradients, firstMoment, secondMoment, OptimizerKernels.UPDATE, rounded);
    }
}
