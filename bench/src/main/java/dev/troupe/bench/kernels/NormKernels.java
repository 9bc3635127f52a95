package dev.troupe.bench.kernels;

import dev.troupe.engine.Tensor;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.annotations.Benchmark;

/** Layer norm of the residual stream. Sizes and thread rule as of {@link Workbench}. */
public class NormKernels extends Workbench {
    private static final double EPSILON = 1e-5;
    private static final String SIZES = String.format(Locale.ROOT, "[%d x %d]", N, C);
    private static final double ELEMENTS = (double) N * C;

    static final List<KernelWork> WORK = List.of(
            KernelWork.memory(NormKernels.class, "layerNorm", SIZES, 2 * ELEMENTS),
            KernelWork.memory(NormKernels.class, "addThenLayerNorm", SIZES + ", two kernels", 4 * ELEMENTS),
            KernelWork.memory(NormKernels.class, "layerNormOfSum", SIZES + ", in one", 4 * ELEMENTS),
            KernelWork.memory(NormKernels.class, "layerNormBackwardInput", SIZES + ", added", 4 * ELEMENTS),
            KernelWork.memory(NormKernels.class, "layerNormBackwardWeight", SIZES, 2 * ELEMENTS),
            KernelWork.memory(NormKernels.class, "layerNormBackwardApart", SIZES + ", two kernels", 4 * ELEMENTS),
            KernelWork.memory(NormKernels.class, "layerNormBackward", SIZES + ", in one", 4 * ELEMENTS));

    private Tensor x;
    private Tensor gamma;
    private Tensor beta;
    private Tensor y;
    private Tensor mean;
    private Tensor reciprocalDeviation;
    private Tensor dy;
    private Tensor dx;
    private Tensor dGamma;
    private Tensor dBeta;

    @Override
    void layOut() {
        x = floats(N, C);
        gamma = floats(C);
        beta = floats(C);
        y = floats(N, C);
        mean = floats(N);
        reciprocalDeviation = floats(N);
        dy = floats(N, C);
        dx = floats(N, C);
        dGamma = floats(C);
        dBeta = floats(C);
        // The backward reads the results of the forward.
        layerNorm();
    }

    /** Forward. */
    @Benchmark
    public void layerNorm() {
        engine().layerNorm(null, x, gamma, beta, EPSILON, y, mean, reciprocalDeviation);
    }

    /** The residual added by a kernel of its own, and then the forward. */
    @Benchmark
    public void addThenLayerNorm() {
        engine().add(dx, dy, dy);
        engine().layerNorm(null, dy, gamma, beta, EPSILON, y, mean, reciprocalDeviation);
    }

    /** The residual added by the forward. */
    @Benchmark
    public void layerNormOfSum() {
        engine().layerNorm(dx, dy, gamma, beta, EPSILON, y, mean, reciprocalDeviation);
    }

    /** The gradient for the input, added to the gradient of the residual stream. */
    @Benchmark
    public void layerNormBackwardInput() {
        engine().layerNormBackwardInput(dy, x, gamma, mean, reciprocalDeviation, dx, true);
    }

    /** The gradients for both weights. */
    @Benchmark
    public void layerNormBackwardWeight() {
        engine().layerNormBackwardWeight(dy, x, mean, reciprocalDeviation, dGamma, dBeta);
    }

    /** The gradients for the weights and for the input, one after the other. */
    @Benchmark
    public void layerNormBackwardApart() {
        layerNormBackwardWeight();
        layerNormBackwardInput();
    }

    /** The same in one call. */
    @Benchmark
    public void layerNormBackward() {
        engine().layerNormBackward(dy, x, gamma, mean, reciprocalDeviation, dx, true, dGamma, dBeta);
    }
}
