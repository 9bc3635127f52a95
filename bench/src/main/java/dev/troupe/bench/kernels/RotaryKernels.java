package dev.troupe.bench.kernels;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Tensor;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.annotations.Benchmark;

/**
 * The parts of a block of Llama's kind other than its projections: norms by the root mean square, rotary positions,
 * attention with shared keys and values, and the gated unit. Sizes and thread rule as of {@link Workbench}.
 */
public class RotaryKernels extends Workbench {
    private static final double EPSILON = 1e-5;
    /** Heads with keys and values. */
    private static final int K = 2;
    private static final int D = C / H;
    /** Inner width. */
    private static final int I = 3 * C;
    /** Of one product over the scores below the diagonal, all sequences and heads: 2 B H (T^2 / 2) (C / H). */
    private static final double OPERATIONS = (double) B * T * T * C;
    private static final double ELEMENTS = (double) N * C;
    private static final double INNER = (double) N * I;
    private static final String SIZES = String.format(Locale.ROOT, "[%d x %d]", N, C);
    private static final String INNER_SIZES = String.format(Locale.ROOT, "[%d x %d]", N, I);
    private static final String HEADS = String.format(Locale.ROOT,
            "%d sequences of %d, %d heads of %d, %d of them with keys and values", B, T, H, D, K);

    static final List<KernelWork> WORK = List.of(
            KernelWork.memory(RotaryKernels.class, "rmsNorm", SIZES, 2 * ELEMENTS),
            KernelWork.memory(RotaryKernels.class, "rmsNormBackwardInput", SIZES + ", added", 4 * ELEMENTS),
            KernelWork.memory(RotaryKernels.class, "rmsNormBackwardWeight", SIZES, 2 * ELEMENTS),
            KernelWork.memory(RotaryKernels.class, "rmsNormBackward", SIZES + ", both in one", 4 * ELEMENTS),
            KernelWork.memory(RotaryKernels.class, "rotary", SIZES + ", in place", 2 * ELEMENTS),
            KernelWork.products(RotaryKernels.class, "groupedAttention", HEADS, 2 * OPERATIONS),
            KernelWork.products(RotaryKernels.class, "groupedAttentionBackward", HEADS, 5 * OPERATIONS),
            KernelWork.memory(RotaryKernels.class, "cachedAttention",
                    String.format(Locale.ROOT, "one query after %d keys, %d heads of %d, %d of", N, H, D, K)
                            + " them with keys and values",
                    2.0 * N * K * D),
            KernelWork.memory(RotaryKernels.class, "swiGlu", INNER_SIZES, 3 * INNER),
            KernelWork.memory(RotaryKernels.class, "swiGluBackward", INNER_SIZES, 5 * INNER));

    private Tensor x;
    private Tensor gamma;
    private Tensor y;
    private Tensor root;
    private Tensor dy;
    private Tensor dx;
    private Tensor dGamma;
    private Tensor cosines;
    private Tensor sines;
    private Tensor keys;
    private Tensor values;
    private Tensor state;
    private Tensor dKeys;
    private Tensor dValues;
    private Tensor query;
    private Tensor attended;
    private Tensor gate;
    private Tensor up;
    private Tensor inner;
    private Tensor dGate;
    private Tensor dUp;

    @Override
    void layOut() {
        x = floats(N, C);
        gamma = floats(C);
        y = floats(N, C);
        root = floats(N);
        dy = floats(N, C);
        dx = floats(N, C);
        dGamma = floats(C);
        cosines = floats(T, D / 2);
        sines = floats(T, D / 2);
        keys = floats(N, K * D);
        values = floats(N, K * D);
        state = zeros(engine().attentionStateShape(B, T, H));
        dKeys = floats(N, K * D);
        dValues = floats(N, K * D);
        query = floats(1, C);
        attended = floats(1, C);
        gate = floats(N, I);
        up = floats(N, I);
        inner = floats(N, I);
        dGate = floats(N, I);
        dUp = floats(N, I);
        // The backwards read the results of the forwards.
        rmsNorm();
        groupedAttention();
    }

    /** Forward. */
    @Benchmark
    public void rmsNorm() {
        engine().rmsNorm(null, x, gamma, EPSILON, y, root);
    }

    /** The gradient for the input, added to the gradient of the residual stream. */
    @Benchmark
    public void rmsNormBackwardInput() {
        engine().rmsNormBackwardInput(dy, x, gamma, root, dx, true);
    }

    /** The gradient for gamma. */
    @Benchmark
    public void rmsNormBackwardWeight() {
        engine().rmsNormBackwardWeight(dy, x, root, dGamma);
    }

    /** Both in one call. */
    @Benchmark
    public void rmsNormBackward() {
        engine().rmsNormBackward(dy, x, gamma, root, dx, true, dGamma);
    }

    /** The turn of queries; back it is the same. */
    @Benchmark
    public void rotary() {
        engine().rotary(dx, null, T, cosines, sines, false, dx);
    }

    /** Forward. */
    @Benchmark
    public void groupedAttention() {
        engine().groupedAttention(x, keys, values, null, T, H, K, Dropout.NONE, state, y);
    }

    /** Backward. */
    @Benchmark
    public void groupedAttentionBackward() {
        engine().groupedAttentionBackward(dy, x, keys, values, null, y, state, T, H, K, Dropout.NONE, dx, dKeys,
                dValues);
    }

    /** The row of the next token. */
    @Benchmark
    public void cachedAttention() {
        engine().cachedAttention(query, keys, values, N, H, K, attended);
    }

    /** Forward. */
    @Benchmark
    public void swiGlu() {
        engine().swiGlu(gate, up, inner);
    }

    /** Backward. */
    @Benchmark
    public void swiGluBackward() {
        engine().swiGluBackward(gate, up, inner, dGate, dUp);
    }
}
