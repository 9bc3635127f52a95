package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.AttentionLauncher.Operands;
import dev.troupe.engine.cuda.AttentionLauncher.Sizes;
import dev.troupe.engine.cuda.blas.CublasLt;
import dev.troupe.engine.cuda.blas.CublasLtProducts;
import dev.troupe.engine.cuda.blas.ProductSpec;
import dev.troupe.engine.cuda.device.Device;
import dev.troupe.engine.cuda.device.DeviceException;
import java.util.Optional;

/**
 * The engine for NVIDIA's GPUs, in float32, or with activations and products of bfloat16. All kernels are its own, except
 * products by cuBLASLt if the run chooses it. Kernels run on one stream, copies at fences on another. The host waits only
 * when it copies from the device.
 *
 * <p>The results of a kernel are the same bytes on every call: no order of a sum depends on the timing of blocks, and no
 * kernel has atomic operations.
 *
 * <p>Thread rule: as of {@link Engine}; tensors may also be copied and closed on any thread.
 */
final class CudaEngine extends RowKernels {
    private final AttentionLauncher attention;
    private final Products products;

    CudaEngine(Device device, DataType computeType) {
        this(device, computeType, Optional.empty());
    }

    /**
     * An engine with products by a library, and by its own kernels if the library refuses a product.
     *
     * @throws DeviceException if the library refuses the device
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
        attention = new AttentionLauncher(launch, computeType);
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
    public long productScratchBytes(long m, long k, long n, boolean isRange, DataType product) {
        return products.scratchBytes();
    }

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
        attention.forward(Operands.packed(qkv), Sizes.of(y, null, sequenceLength, heads, heads), dropout, state, y);
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        attention.backward(dy, Operands.packed(qkv), y, state, Sizes.of(y, null, sequenceLength, heads, heads), dropout,
                Operands.packed(dQkv));
    }

    @Override
    public void groupedAttention(Tensor queries, Tensor keys, Tensor values, Tensor starts, int sequenceLength,
            int heads, int keyValueHeads, Dropout dropout, Tensor state, Tensor y) {
        attention.forward(Operands.apart(queries, keys, values),
                Sizes.of(y, starts, sequenceLength, heads, keyValueHeads), dropout,
                state, y);
    }

    @Override
    public void groupedAttentionBackward(Tensor dy, Tensor queries, Tensor keys, Tensor values, Tensor starts,
            Tensor y, Tensor state, int sequenceLength, int heads, int keyValueHeads, Dropout dropout,
            Tensor dQueries, Tensor dKeys, Tensor dValues) {
        attention.backward(dy, Operands.apart(queries, keys, values), y, state,
                Sizes.of(y, starts, sequenceLength, heads, keyValueHeads), dropout,
                Operands.apart(dQueries, dKeys, dValues));
    }

    @Override
    public void cachedAttention(Tensor queries, Tensor keys, Tensor values, int length, int heads, int keyValueHeads,
            Tensor y) {
        int rows = y.shape().size(0);
        int width = y.shape().size(1);
        Shape one = Shape.of(1, width);
        for (int row = 0; row < rows; row++) {
            Tensor query = rows == 1 ? queries : range(queries, (long) row * width, one);
            Tensor out = rows == 1 ? y : range(y, (long) row * width, one);
            attention.forward(Operands.apart(query, keys, values),
                    Sizes.ofLast(out, length - rows + row + 1, heads, keyValueHeads), Dropout.NONE, null, out);
        }
    }
}
