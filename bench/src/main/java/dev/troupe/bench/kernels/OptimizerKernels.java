package dev.troupe.bench.kernels;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.Tensor;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.annotations.Benchmark;

/** The update of the weights of one wide layer. Sizes and thread rule as of {@link Workbench}. */
public class OptimizerKernels extends Workbench {
    private static final String SIZES = String.format(Locale.ROOT, "[%d x %d]", C, 4 * C);
    private static final double ELEMENTS = 4.0 * C * C;
    /**
     * A decay so slow that moments keep their size: gradients are zero, and moments that decay would become subnormal
     * numbers.
     */
    static final double BETA = 1 - 1e-7;
    static final AdamW UPDATE = new AdamW(0, BETA, BETA, 1e-8, 0.1, 1, 1);

    private static final Momentum MOMENTUM = new Momentum(0, BETA, true, 0, 1);

    static final List<KernelWork> WORK = List.of(
            KernelWork.memory(OptimizerKernels.class, "adamW", SIZES, 8 * ELEMENTS),
            KernelWork.memory(OptimizerKernels.class, "sgd", SIZES, 4 * ELEMENTS),
            KernelWork.memory(OptimizerKernels.class, "sgdMomentum", SIZES, 6 * ELEMENTS));

    private Tensor weights;
    private Tensor gradients;
    private Tensor firstMoment;
    private Tensor secondMoment;

    @Override
    void layOut() {
        weights = floats(C, 4 * C);
        gradients = floats(C, 4 * C);
        firstMoment = floats(C, 4 * C);
        secondMoment = floats(C, 4 * C);
        engine().fill(secondMoment, 1);
    }

    /** With both moments. */
    @Benchmark
    public void adamW() {
        engine().adamW(weights, gradients, firstMoment, secondMoment, UPDATE);
    }

    /** Without any. */
    @Benchmark
    public void sgd() {
        engine().sgd(weights, gradients, 0, 0.1, 1);
    }

    /** With a velocity. */
    @Benchmark
    public void sgdMomentum() {
        engine().sgdMomentum(weights, gradients, firstMoment, MOMENTUM);
    }
}
