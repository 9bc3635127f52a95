package dev.troupe.bench.kernels;

import dev.troupe.engine.Tensor;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;

/** Matrix products as a block and the head ask for them. Sizes and thread rule as of {@link Workbench}. */
public class ProductKernels extends Workbench {
    static final List<KernelWork> WORK = List.of(KernelWork.product(ProductKernels.class, "linear", N, C, 3 * C),
            KernelWork.product(ProductKernels.class, "linearGelu", N, C, 4 * C),
            KernelWork.product(ProductKernels.class, "matmulForInput", N, 4 * C, C),
            KernelWork.product(ProductKernels.class, "matmulForWeight", C, N, 4 * C),
            KernelWork.product(ProductKernels.class, "matmulOfHead", N, C, V));

    private Tensor x;
    private Tensor qkvWeight;
    private Tensor qkvBias;
    private Tensor qkv;
    private Tensor innerWeight;
    private Tensor innerBias;
    private Tensor preActivation;
    private Tensor inner;
    private Tensor dx;
    private Tensor dInnerWeight;
    private Tensor table;
    private Tensor logits;

    @Override
    void layOut() {
        x = floats(N, C);
        qkvWeight = floats(C, 3 * C);
        qkvBias = floats(3 * C);
        qkv = floats(N, 3 * C);
        innerWeight = floats(C, 4 * C);
        innerBias = floats(4 * C);
        preActivation = floats(N, 4 * C);
        inner = floats(N, 4 * C);
        dx = floats(N, C);
        dInnerWeight = floats(C, 4 * C);
        table = floats(V, C);
        logits = floats(N, V);
    }

    /** Queries, keys and values of all heads. */
    @Benchmark
    public void linear() {
        engine().linear(x, qkvWeight, false, qkvBias, qkv);
    }

    /** The wide layer of the second half of a block. */
    @Benchmark
    public void linearGelu() {
        engine().linearGelu(x, innerWeight, innerBias, preActivation, inner);
    }

    /** The gradient of the wide layer for its input: the weight is transposed. */
    @Benchmark
    public void matmulForInput() {
        engine().matmul(inner, false, innerWeight, true, dx, false);
    }

    /** The gradient of the wide layer for its weight: the input is transposed, the product added. */
    @Benchmark
    public void matmulForWeight() {
        engine().matmul(x, true, inner, false, dInnerWeight, true);
    }

    /** Logits of all rows. */
    @Benchmark
    public void matmulOfHead() {
        engine().matmul(x, false, table, true, logits, false);
    }
}
