package dev.troupe.bench.kernels;

import dev.troupe.engine.Tensor;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.annotations.Benchmark;

/**
 * Causal attention, limited by its products: half of the T x T scores of each head, two products forward and
 * five backward. Sizes and thread rule as of {@link Workbench}.
 */
public class AttentionKernels extends Workbench {
    /** Of one product over the scores below the diagonal, all sequences and heads: 2 B H (T^2 / 2) (C / H). */
    private static final double OPERATIONS = (double) B * T * T * C;
    private static final String SIZES = String.format(Locale.ROOT, "%d sequences of %d, %d heads of %d", B, T, H,
            C / H);

    static final List<KernelWork> WORK = List.of(
            KernelWork.products(AttentionKernels.class, "causalAttention", SIZES, 2 * OPERATIONS),
            KernelWork.products(AttentionKernels.class, "causalAttentionBackward", SIZES, 5 * OPERATIONS));

    private Tensor qkv;
    private Tensor state;
    private Tensor y;
    private Tensor dy;
    private Tensor dQkv;

    @Override
    void layOut() {
        qkv = floats(N, 3 * C);
        state = zeros(engine().attentionStateShape(B, T, H));
        y = floats(N, C);
        dy = floats(N, C);
        dQkv = floats(N, 3 * C);
        // The backward reads the results of the forward.
        causalAttention();
    }

    /** Forward. */
    @Benchmark
    public void causalAttention() {
        engine().causalAttention(qkv, T, H, state, y);
    }

    /** Backward. */
    @Benchmark
    public void causalAttentionBackward() {
        engine().causalAttentionBackward(dy, qkv, y, state, T, H, dQkv);
    }
}
