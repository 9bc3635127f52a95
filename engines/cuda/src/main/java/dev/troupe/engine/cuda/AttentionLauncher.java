package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Tensor;
import java.util.Locale;

/**
 * Launches of the kernels of attention. Only the type and the size of a head select the kernel, so that a model has the same
 * bits in any layout and at any address.
 *
 * <p>Thread rule: one thread.
 */
final class AttentionLauncher {
    private static final int THREADS = 128;
    private static final int WARPS = 4;
    /** The size of heads for tensor cores is a multiple of this, so that every head is aligned. */
    private static final int ALIGNED_ELEMENTS = 8;

    private final Launch launch;
    private final DataType computeType;

    AttentionLauncher(Launch launch, DataType computeType) {
        this.launch = launch;
        this.computeType = computeType;
    }

    /**
     * The kernels by the largest size of a head, with the places in a block of each: forward, backward for queries, backward
     * for keys.
     */
    private enum Kernels {
        CORES_D64("cores_", "d64", 64, 128, 128), CORES_D128("cores_", "d128", 128, 64, 64),
        //
        D32("", "d32_f32", 32, 32, 32), D64("", "d64_f32", 64, 32, 32), D128("", "d128_f32", 128, 32, 16),
        //
        D256("", "d256_f32", 256, 8, 4), D256_BFLOAT16("", "d256_bf16", 256, 8, 4);

        private final int most;
        private final int forwardPlaces;
        private final int backwardPlaces;
        private final String forward;
        private final String ofQueries;
        private final String ofKeys;

        Kernels(String kind, String name, int most, int forwardPlaces, int backwardPlaces) {
            this.most = most;
            this.forwardPlaces = forwardPlaces;
            this.backwardPlaces = backwardPlaces;
            forward = "attention_" + kind + name;
            ofQueries = "attention_" + kind + "queries_" + name;
            ofKeys = "attention_" + kind + "keys_" + name;
        }
    }

    private Kernels kernels(int d) {
        if (d > Kernels.D256.most) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT,
                            "the cuda engine has attention for heads of up to %d numbers, but found %d",
                            Kernels.D256.most, d));
        }
        if (computeType == DataType.BFLOAT16) {
            if (d % ALIGNED_ELEMENTS > 0 || d > Kernels.CORES_D128.most) {
                return Kernels.D256_BFLOAT16;
            }
            return d <= Kernels.CORES_D64.most ? Kernels.CORES_D64 : Kernels.CORES_D128;
        }
        return d <= Kernels.D32.most
                ? Kernels.D32
                : d <= Kernels.D64.most ? Kernels.D64 : d <= Kernels.D128.most ? Kernels.D128 : Kernels.D256;
    }

    /**
     * Queries, keys and values, or the gradients for them.
     *
     * @param valuesFirst the column of the first value
     */
    record Operands(Tensor queries, Tensor keys, Tensor values, int keysFirst, int valuesFirst) {
        /** Three parts of a matrix [N x 3 H D]. */
        static Operands packed(Tensor qkv) {
            int c = qkv.shape().size(1) / 3;
            return new Operands(qkv, qkv, qkv, c, 2 * c);
        }

        static Operands apart(Tensor queries, Tensor keys, Tensor values) {
            return new Operands(queries, keys, values, 0, 0);
        }
    }

    /** The sizes of a call: B sequences of T places, the last Q of which have queries, and heads of D numbers. */
    record Sizes(Tensor starts, int b, int t, int q, int heads, int sharing, int d) {
        /** Sizes of whole sequences, from the shape of y. */
        static Sizes of(Tensor y, Tensor starts, int t, int heads, int keyValueHeads) {
            return new Sizes(starts, y.shape().size(0) / t, t, t, heads, heads / keyValueHeads,
                    y.shape().size(1) / heads);
        }

        /** Sizes for the last place of one sequence. */
        static Sizes ofLast(Tensor y, int t, int heads, int keyValueHeads) {
            return new Sizes(null, 1, t, 1, heads, heads / keyValueHeads, y.shape().size(1) / heads);
        }
    }

    /** Writes y, and the state for the backward if it is not null. */
    void forward(Operands of, Sizes sizes, Dropout dropout, Tensor state, Tensor y) {
        Kernels kernels = kernels(sizes.d);
        launch.of(kernels.forward).with(of.queries).with(of.keys, of.keysFirst).with(of.values, of.valuesFirst).with(y)
                .with(state);
        places(of, sizes, dropout).with(dropout)
                .run((long) sizes.b * sizes.heads * Math.ceilDiv(sizes.q, kernels.forwardPlaces), THREADS);
    }

    void backward(Tensor dy, Operands of, Tensor y, Tensor state, Sizes sizes, Dropout dropout, Operands gradients) {
        Kernels kernels = kernels(sizes.d);
        int units = sizes.b * sizes.heads * sizes.t;
        long deltas = launch.scratch((long) units * Float.BYTES);
        launch.ofType("attention_deltas").with(dy).with(y).wide(deltas);
        places(of, sizes, dropout).integer(units).run(Math.ceilDiv(units, WARPS), THREADS);
        int tiles = Math.ceilDiv(sizes.t, kernels.backwardPlaces);
        launch.of(kernels.ofQueries).with(of.queries).with(of.keys, of.keysFirst).with(of.values, of.valuesFirst)
                .with(dy).with(state).wide(deltas).with(gradients.queries);
        places(of, sizes, dropout).with(dropout).run((long) sizes.b * sizes.heads * tiles, THREADS);
        launch.of(kernels.ofKeys).with(of.queries).with(of.keys, of.keysFirst).with(of.values, of.valuesFirst)
                .with(dy).with(state).wide(deltas).with(gradients.keys, gradients.keysFirst)
                .with(gradients.values, gradients.valuesFirst);
        places(of, sizes, dropout).with(dropout)
                .run((long) sizes.b * (sizes.heads / sizes.sharing) * tiles, THREADS);
    }

    /** Adds {@code PLACES_PARAMETERS} of the kernels. */
    private Launch places(Operands of, Sizes sizes, Dropout dropout) {
        return launch.with(sizes.starts).integer(sizes.t).integer(sizes.q).integer(sizes.heads).integer(sizes.sharing)
                .integer(sizes.d).integer(of.queries.shape().size(1)).integer(of.keys.shape().size(1))
                .real(1 / Math.sqrt(sizes.d)).wide(dropout.wholeColumns()).wide(dropout.firstColumn())
                .wide((long) sizes.t / dropout.length() * dropout.wholeLength());
    }
}
