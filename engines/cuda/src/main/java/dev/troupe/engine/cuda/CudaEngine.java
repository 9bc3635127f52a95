package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.blas.CublasLt;
import dev.troupe.engine.cuda.blas.CublasLtProducts;
import dev.troupe.engine.cuda.blas.ProductSpec;
import dev.troupe.engine.cuda.device.Device;
import dev.troupe.engine.cuda.device.DeviceException;
import java.util.Optional;

/**
 * The engine of NVIDIA's GPUs, in float32, or with activations and products of bfloat16 beside it. All kernels are its own,
 * but products of cuBLASLt where the run has chosen that. They run on one stream, and copies at fences run on another. The
 * host waits where it copies from the device, and nowhere else.
 *
 * <p>The results of a kernel are the same bytes on every call: no sum's order follows from when a block runs, and no kernel
 * has atomic operations.
 *
 * <p>Thread rule: that of {@link Engine}; tensors may also be copied and closed on any thread.
 */
final class CudaEngine extends RowKernels {
    private static final int ATTENTION_THREADS = 128;
    private static final int ATTENTION_WARPS = 4;

    /** The longest head of each kernel of attention, in numbers, and the places that a block of it has. */
    private enum HeadSize {
        D32(32, 32, 32), D64(64, 32, 32), D128(128, 32, 16), D256(256, 8, 4);

        private final int most;
        private final int forwardPlaces;
        private final int backwardPlaces;
        private final String forward;
        private final String ofQueries;
        private final String ofKeys;

        HeadSize(int most, int forwardPlaces, int backwardPlaces) {
            this.most = most;
            this.forwardPlaces = forwardPlaces;
            this.backwardPlaces = backwardPlaces;
            forward = "attention_d" + most;
            ofQueries = "attention_queries_d" + most;
            ofKeys = "attention_keys_d" + most;
        }

        static HeadSize of(int d) {
            for (HeadSize size : values()) {
                if (d <= size.most) {
                    return size;
                }
            }
            throw new IllegalArgumentException(
                    "the cuda engine has attention for heads of up to %d numbers, but found %d"
                            .formatted(D256.most, d));
        }
    }

    /**
     * Queries, keys and values, or the gradients for them.
     *
     * @param keysFirst
     *            the column of the first key
     * @param valuesFirst
     *            the column of the first value
     */
    private record Operands(Tensor queries, Tensor keys, Tensor values, int keysFirst, int valuesFirst) {
        /** Of a matrix [N x 3 H D] that has them side by side. */
        static Operands packed(Tensor qkv) {
            int c = qkv.shape().size(1) / 3;
            return new Operands(qkv, qkv, qkv, c, 2 * c);
        }

        /** Of a matrix each. */
        static Operands apart(Tensor queries, Tensor keys, Tensor values) {
            return new Operands(queries, keys, values, 0, 0);
        }
    }

    /**
     * What a call of attention is about: B sequences of T places, the last Q of which have queries.
     */
    private record Sizes(Tensor starts, int b, int t, int q, int heads, int sharing, int d) {
    }

    private final Products products;

    /** An engine whose products are its own. */
    CudaEngine(Device device, DataType computeType) {
        this(device, computeType, Optional.empty());
    }

    /**
     * An engine whose products are those of a library where that takes them.
     *
     * @throws DeviceException
     *             where the library refuses the device
     */
    CudaEngine(Device device, DataType computeType, Optional<CublasLt> library) {
        super(device, computeType);
        try {
            products = new Products(launch, computeType,
                    library.map(found -> new CublasLtProducts(found, stream)).orElse(null));
        } catch (RuntimeException refused) {
            super.close();
            throw refused;
        }
    }

    @Override
    public String kind() {
        return CudaEngineProvider.KIND;
    }

    @Override
    public void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        products.multiply(left, transposeLeft, right, transposeRight, null, product, accumulate);
    }

    @Override
    public void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y) {
        products.multiply(x, false, weight, transposeWeight, bias, y, false);
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        linear(x, weight, false, bias, preActivation);
        gelu(preActivation, y);
    }

    @Override
    public long productScratchBytes(long m, long k, long n, boolean isRange, DataType product) {
        return products.scratchBytes();
    }

    /** Whether the engine's library has an algorithm for a kind of product. */
    boolean hasLibraryFor(ProductSpec spec) {
        return products.hasLibraryFor(spec);
    }

    @Override
    public void close() {
        products.close();
        super.close();
    }

    /** The logarithms of the rows' sums of exponentials, [B x H x T]. */
    @Override
    public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return Shape.of(microbatchSize, heads, sequenceLength);
    }

    @Override
    public void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y) {
        attend(Operands.packed(qkv), sizes(y, null, sequenceLength, heads, heads), dropout, state, y);
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        attendBackward(dy, Operands.packed(qkv), y, state, sizes(y, null, sequenceLength, heads, heads), dropout,
                Operands.packed(dQkv));
    }

    @Override
    public void groupedAttention(Tensor queries, Tensor keys, Tensor values, Tensor starts, int sequenceLength,
            int heads, int keyValueHeads, Dropout dropout, Tensor state, Tensor y) {
        attend(Operands.apart(queries, keys, values), sizes(y, starts, sequenceLength, heads, keyValueHeads), dropout,
                state, y);
    }

    @Override
    public void groupedAttentionBackward(Tensor dy, Tensor queries, Tensor keys, Tensor values, Tensor starts,
            Tensor y, Tensor state, int sequenceLength, int heads, int keyValueHeads, Dropout dropout,
            Tensor dQueries, Tensor dKeys, Tensor dValues) {
        attendBackward(dy, Operands.apart(queries, keys, values), y, state,
                sizes(y, starts, sequenceLength, heads, keyValueHeads), dropout,
                Operands.apart(dQueries, dKeys, dValues));
    }

    @Override
    public void cachedAttention(Tensor query, Tensor keys, Tensor values, int length, int heads, int keyValueHeads,
            Tensor y) {
        Sizes sizes = new Sizes(null, 1, length, 1, heads, heads / keyValueHeads, y.shape().size(1) / heads);
        attend(Operands.apart(query, keys, values), sizes, Dropout.NONE, null, y);
    }

    private static Sizes sizes(Tensor y, Tensor starts, int t, int heads, int keyValueHeads) {
        return new Sizes(starts, y.shape().size(0) / t, t, t, heads, heads / keyValueHeads, y.shape().size(1) / heads);
    }

    private void attend(Operands of, Sizes sizes, Dropout dropout, Tensor state, Tensor y) {
        HeadSize size = HeadSize.of(sizes.d);
        launch.ofType(size.forward).with(of.queries).with(of.keys, of.keysFirst).with(of.values, of.valuesFirst).with(y)
                .with(state);
        places(of, sizes, dropout).with(dropout).run(
                (long) sizes.b * sizes.heads * Math.ceilDiv(sizes.q, size.forwardPlaces), ATTENTION_THREADS);
    }

    private void attendBackward(Tensor dy, Operands of, Tensor y, Tensor state, Sizes sizes, Dropout dropout,
            Operands gradients) {
        HeadSize size = HeadSize.of(sizes.d);
        int units = sizes.b * sizes.heads * sizes.t;
        long deltas = launch.scratch((long) units * Float.BYTES);
        launch.ofType("attention_deltas").with(dy).with(y).wide(deltas);
        places(of, sizes, dropout).integer(units).run(Math.ceilDiv(units, ATTENTION_WARPS), ATTENTION_THREADS);
        int tiles = Math.ceilDiv(sizes.t, size.backwardPlaces);
        launch.ofType(size.ofQueries).with(of.queries).with(of.keys, of.keysFirst).with(of.values, of.valuesFirst)
                .with(dy).with(state).wide(deltas).with(gradients.queries);
        places(of, sizes, dropout).with(dropout).run((long) sizes.b * sizes.heads * tiles, ATTENTION_THREADS);
        launch.ofType(size.ofKeys).with(of.queries).with(of.keys, of.keysFirst).with(of.values, of.valuesFirst)
                .with(dy).with(state).wide(deltas).with(gradients.keys, gradients.keysFirst)
                .with(gradients.values, gradients.valuesFirst);
        places(of, sizes, dropout).with(dropout).run((long) sizes.b * (sizes.heads / sizes.sharing) * tiles,
                ATTENTION_THREADS);
    }

    /** Adds {@code PLACES_PARAMETERS} of the kernels of attention. */
    private Launch places(Operands of, Sizes sizes, Dropout dropout) {
        return launch.with(sizes.starts).integer(sizes.t).integer(sizes.q).integer(sizes.heads).integer(sizes.sharing)
                .integer(sizes.d).integer(of.queries.shape().size(1)).integer(of.keys.shape().size(1))
                .real(1 / Math.sqrt(sizes.d)).wide(dropout.wholeColumns()).wide(dropout.firstColumn())
                .wide((long) sizes.t / dropout.length() * dropout.wholeLength());
    }
}
