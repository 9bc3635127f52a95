package dev.troupe.bench.kernels;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.annotations.Benchmark;

/** Kernels that read each element once, and sums. Sizes and thread rule as of {@link Workbench}. */
public class ElementwiseKernels extends Workbench {
    private static final String NARROW = String.format(Locale.ROOT, "[%d x %d]", N, C);
    private static final String WIDE = String.format(Locale.ROOT, "[%d x %d]", N, 4 * C);
    private static final double ELEMENTS = (double) N * C;

    static final List<KernelWork> WORK = List.of(
            KernelWork.memory(ElementwiseKernels.class, "add", NARROW, 3 * ELEMENTS),
            KernelWork.memory(ElementwiseKernels.class, "copy", NARROW, 2 * ELEMENTS),
            KernelWork.memory(ElementwiseKernels.class, "dropout", NARROW, 2 * ELEMENTS),
            KernelWork.memory(ElementwiseKernels.class, "fill", NARROW, ELEMENTS),
            KernelWork.memory(ElementwiseKernels.class, "scale", NARROW, 2 * ELEMENTS),
            KernelWork.memory(ElementwiseKernels.class, "sum", NARROW, ELEMENTS),
            KernelWork.memory(ElementwiseKernels.class, "squaredSum", WIDE, 4 * ELEMENTS),
            KernelWork.memory(ElementwiseKernels.class, "digest", WIDE, 4 * ELEMENTS),
            KernelWork.memory(ElementwiseKernels.class, "biasBackward", WIDE, 4 * ELEMENTS),
            KernelWork.memory(ElementwiseKernels.class, "gelu", WIDE, 2 * 4 * ELEMENTS),
            KernelWork.memory(ElementwiseKernels.class, "geluBackward", WIDE, 3 * 4 * ELEMENTS));

    private static final Dropout TENTH = new Dropout(0.1, 1, 0, 0, 0, C, 0, 0);

    private Tensor left;
    private Tensor right;
    private Tensor result;
    private Tensor preActivation;
    private Tensor dy;
    private Tensor dx;
    private Tensor dBias;
    private Tensor sums;
    private Tensor digests;

    @Override
    void layOut() {
        left = floats(N, C);
        right = floats(N, C);
        result = floats(N, C);
        preActivation = floats(N, 4 * C);
        dy = floats(N, 4 * C);
        dx = floats(N, 4 * C);
        dBias = floats(4 * C);
        sums = engine().allocate(DataType.FLOAT64, Shape.of(2));
        digests = engine().allocate(DataType.INT32, Shape.of(1, 2));
    }

    /** A residual. */
    @Benchmark
    public void add() {
        engine().add(left, right, result);
    }

    /** The gradient of the residual stream. */
    @Benchmark
    public void copy() {
        engine().copy(left, result);
    }

    /** Dropout of a tenth of the input of the residual stream. */
    @Benchmark
    public void dropout() {
        engine().dropout(left, TENTH, result);
    }

    /** Gradients at the start of a step. */
    @Benchmark
    public void fill() {
        engine().fill(result, 0);
    }

    /** A product with one, so that the numbers do not change. */
    @Benchmark
    public void scale() {
        engine().scale(left, 1);
    }

    /** In float64. */
    @Benchmark
    public void sum() {
        engine().sum(left, sums, 0);
    }

    /** Of a gradient, for its norm. */
    @Benchmark
    public void squaredSum() {
        engine().squaredSum(dy, sums, 1);
    }

    /** Of an activation. */
    @Benchmark
    public void digest() {
        engine().digest(dy, digests, 0);
    }

    /** Column sums. */
    @Benchmark
    public void biasBackward() {
        engine().biasBackward(dy, dBias);
    }

    /** Computed again in a backward, in the tanh form. */
    @Benchmark
    public void gelu() {
        engine().gelu(preActivation, dx);
    }

    /** In the tanh form. */
    @Benchmark
    public void geluBackward() {
        engine().geluBackward(preActivation, dy, dx);
    }
}
