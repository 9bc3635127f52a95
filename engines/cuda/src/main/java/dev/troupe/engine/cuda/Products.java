package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.blas.CublasLtProducts;
import dev.troupe.engine.cuda.blas.ProductSpec;

/**
 * The matrix products of an engine: by cuBLASLt if the engine has it and it computes them, otherwise by the engine's own
 * kernels.
 *
 * <p>Thread rule: one thread.
 */
final class Products implements AutoCloseable {
    private static final int THREADS = 256;
    private static final int FLOAT_TILE = 64;
    private static final int TENSOR_CORE_TILE = 128;
    /** The alignment of tensor cores' operands, in bytes and in elements. */
    private static final int ALIGNMENT = 16;
    private static final int ALIGNED_ELEMENTS = ALIGNMENT / Short.BYTES;
    private static final int TO_BFLOAT16 = 0;
    private static final int TO_FLOATS = 1;
    private static final int ADDED = 2;

    private final Launch launch;
    private final boolean isNarrow;
    /** Null if all products are the engine's own. */
    private final CublasLtProducts library;

    /**
     * Products of a type.
     *
     * @param library closed with this; null for own kernels only
     */
    Products(Launch launch, DataType computeType, CublasLtProducts library) {
        this.launch = launch;
        this.isNarrow = computeType == DataType.BFLOAT16;
        this.library = library;
    }

    boolean hasLibraryFor(ProductSpec spec) {
        return library != null && library.serves(spec);
    }

    /** Bytes of scratch memory, whatever the product. */
    long scratchBytes() {
        return library == null ? 0 : CublasLtProducts.WORKSPACE_BYTES;
    }

    /** {@code product (+)= op(left) op(right) (+ bias)}, as in the contract of kernels; bias may be null. */
    void multiply(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor bias,
            Tensor product, boolean accumulate) {
        int m = product.shape().size(0);
        int n = product.shape().size(1);
        int k = left.shape().size(transposeLeft ? 0 : 1);
        if (library != null && library.multiply(
                new ProductSpec(m, n, k, transposeLeft, transposeRight, left.dataType(), product.dataType(),
                        bias != null),
                address(left), address(right), bias == null ? 0 : address(bias), address(product), accumulate)) {
            return;
        }
        int target = product.dataType() == DataType.BFLOAT16 ? TO_BFLOAT16 : accumulate ? ADDED : TO_FLOATS;
        int tile = isNarrow ? TENSOR_CORE_TILE : FLOAT_TILE;
        launch.of(kernel(transposeLeft, transposeRight, isAligned(left) && isAligned(right))).with(left).with(right)
                .with(bias).with(product).integer(target).integer(m).integer(n).integer(k)
                .run((long) Math.ceilDiv(m, tile) * Math.ceilDiv(n, tile), THREADS);
    }

    private static long address(Tensor tensor) {
        return CudaTensor.of(tensor).address();
    }

    private static boolean isAligned(Tensor matrix) {
        return address(matrix) % ALIGNMENT == 0 && matrix.shape().size(1) % ALIGNED_ELEMENTS == 0;
    }

    private String kernel(boolean transposeLeft, boolean transposeRight, boolean isAligned) {
        int form = (transposeLeft ? 2 : 0) + (transposeRight ? 1 : 0);
        if (!isNarrow) {
            return switch (form) {
                case 0 -> "product_f32_nn";
                case 1 -> "product_f32_nt";
                case 2 -> "product_f32_tn";
                default -> "product_f32_tt";
            };
        }
        return switch (form) {
            case 0 -> isAligned ? "product_bf16_nn" : "product_bf16_nn_any";
            case 1 -> isAligned ? "product_bf16_nt" : "product_bf16_nt_any";
            case 2 -> isAligned ? "product_bf16_tn" : "product_bf16_tn_any";
            default -> isAligned ? "product_bf16_tt" : "product_bf16_tt_any";
        };
    }

    @Override
    public void close() {
        if (library != null) {
            library.close();
        }
    }
}
