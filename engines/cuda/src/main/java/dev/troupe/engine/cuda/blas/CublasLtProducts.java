package dev.troupe.engine.cuda.blas;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cuda.blas.CublasLt.Attribute;
import dev.troupe.engine.cuda.blas.CublasLt.Layouts;
import dev.troupe.engine.cuda.blas.CublasLt.Preference;
import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.cuda.device.DeviceStream;
import dev.troupe.engine.provider.LostDeviceException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The products of one engine by cuBLASLt, on the engine's stream, with their own handle and scratch memory. The library
 * chooses its algorithm for a kind of product once, by its rules and never by a measurement. So the same library on the
 * same kind of GPU gives the same bits again. Row-major matrices are the transposes of column-major ones, so it multiplies
 * transposes: Y^T = W^T X^T.
 *
 * <p>Thread rule: one thread.
 */
public final class CublasLtProducts implements AutoCloseable {
    /** Scratch memory of an engine's products: the size that cuBLAS itself takes on Hopper. */
    public static final long WORKSPACE_BYTES = 32L << 20;
    /**
     * Alignment of operands, in bytes. It is declared even for addresses with a larger alignment: addresses depend on the
     * partition, which must not influence the choice of an algorithm.
     */
    private static final int ALIGNMENT = 16;

    private final CublasLt library;
    private final DeviceStream stream;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment one = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1);
    private final MemorySegment zero = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 0);
    private final Map<ProductSpec, Optional<Plan>> plans = new HashMap<>();
    private boolean isClosed;
    // 0 until they are created.
    private long handle;
    private long preference;
    private long workspace;

    /** The library's descriptors and algorithm for a kind of product. */
    private record Plan(long operation, Layouts layouts, MemorySegment algorithm) {
    }

    /**
     * Products on a stream.
     *
     * @throws DeviceException if the library refuses the device
     */
    public CublasLtProducts(CublasLt library, DeviceStream stream) {
        this.library = library;
        this.stream = stream;
        try {
            begin();
        } catch (RuntimeException refused) {
            close();
            throw refused;
        }
    }

    private void begin() {
        stream.handle(); // makes the device of the handle current
        handle = library.createHandle();
        preference = library.createPreference();
        library.set(preference, Preference.MAX_WORKSPACE_BYTES, WORKSPACE_BYTES);
        // Other schemes sum parts in the type of the product, which would round twice, or in no fixed order.
        library.set(preference, Preference.REDUCTION_SCHEME_MASK, CublasLt.CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
        library.set(preference, Preference.MIN_ALIGNMENT_A_BYTES, ALIGNMENT);
        library.set(preference, Preference.MIN_ALIGNMENT_B_BYTES, ALIGNMENT);
        library.set(preference, Preference.MIN_ALIGNMENT_C_BYTES, ALIGNMENT);
        library.set(preference, Preference.MIN_ALIGNMENT_D_BYTES, ALIGNMENT);
        workspace = stream.allocate(WORKSPACE_BYTES);
    }

    public boolean serves(ProductSpec spec) {
        return plan(spec).isPresent();
    }

    /**
     * Launches a product, if the library can compute it.
     *
     * @param left the address of the left side; likewise the others
     * @param bias not read if the product has none
     * @param accumulate whether to add to the product, which is of FLOAT32 then
     * @return false if an operand is not aligned to 16 bytes, or the library has no algorithm
     */
    public boolean multiply(ProductSpec spec, long left, long right, long bias, long product, boolean accumulate) {
        if ((left | right | product | (spec.hasBias() ? bias : 0)) % ALIGNMENT != 0) {
            return false;
        }
        Optional<Plan> found = plan(spec);
        if (found.isEmpty()) {
            return false;
        }
        Plan plan = found.get();
        if (spec.hasBias()) {
            library.set(plan.operation, Attribute.BIAS_POINTER, bias);
        }
        try {
            library.multiply(handle, plan.operation, one, right, left, accumulate ? one : zero, product, product,
                    plan.layouts, plan.algorithm, workspace, WORKSPACE_BYTES, stream.handle());
        } catch (DeviceException refused) {
            stream.fence(); // raises the failure of a lost device
            throw refused;
        }
        return true;
    }

    private Optional<Plan> plan(ProductSpec spec) {
        Optional<Plan> known = plans.get(spec);
        if (known == null) {
            known = newPlan(spec);
            plans.put(spec, known);
        }
        return known;
    }

    private Optional<Plan> newPlan(ProductSpec spec) {
        int operands = type(spec.operands());
        long operation = library.createOperation();
        library.set(operation, Attribute.TRANSA,
                spec.transposeRight() ? CublasLt.CUBLAS_OP_T : CublasLt.CUBLAS_OP_N);
        library.set(operation, Attribute.TRANSB,
                spec.transposeLeft() ? CublasLt.CUBLAS_OP_T : CublasLt.CUBLAS_OP_N);
        if (spec.hasBias()) {
            library.set(operation, Attribute.EPILOGUE, CublasLt.CUBLASLT_EPILOGUE_BIAS);
            library.set(operation, Attribute.BIAS_DATA_TYPE, CublasLt.CUDA_R_32F);
            library.set(operation, Attribute.BIAS_POINTER, ALIGNMENT); // its alignment counts; the bias follows later
        }
        Layouts layouts = new Layouts(
                spec.transposeRight()
                        ? transposed(operands, spec.n(), spec.k())
                        : transposed(operands, spec.k(), spec.n()),
                spec.transposeLeft()
                        ? transposed(operands, spec.k(), spec.m())
                        : transposed(operands, spec.m(), spec.k()),
                transposed(type(spec.product()), spec.m(), spec.n()),
                transposed(type(spec.product()), spec.m(), spec.n()));
        MemorySegment algorithm = arena.allocate(CublasLt.ALGORITHM_BYTES, Long.BYTES);
        stream.handle(); // the library uses the current device
        // Its tables require a bias of the product's type, and do not specify how another type is refused.
        boolean mayBeInvalid = spec.hasBias() && spec.product() != DataType.FLOAT32;
        if (library.findAlgorithm(handle, operation, layouts, preference, mayBeInvalid, algorithm)) {
            return Optional.of(new Plan(operation, layouts, algorithm));
        }
        destroy(operation, layouts);
        return Optional.empty();
    }

    /** The column-major layout of the transpose of a row-major matrix [rows x columns]. */
    private long transposed(int type, int rows, int columns) {
        return library.createLayout(type, columns, rows, columns);
    }

    private static int type(DataType type) {
        return switch (type) {
            case FLOAT32 -> CublasLt.CUDA_R_32F;
            case BFLOAT16 -> CublasLt.CUDA_R_16BF;
            default -> throw new IllegalArgumentException("products are of FLOAT32 or BFLOAT16, but found " + type);
        };
    }

    private void destroy(long operation, Layouts layouts) {
        library.destroyOperation(operation);
        library.destroyLayout(layouts.a());
        library.destroyLayout(layouts.b());
        library.destroyLayout(layouts.c());
        library.destroyLayout(layouts.d());
    }

    /** Frees everything, except on a lost device, which has lost the handle too. Closing twice has no effect. */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        plans.values().forEach(plan -> plan.ifPresent(known -> destroy(known.operation, known.layouts)));
        if (workspace != 0) {
            stream.free(workspace);
        }
        if (preference != 0) {
            library.destroyPreference(preference);
        }
        try {
            if (handle != 0) {
                stream.handle();
                library.destroyHandle(handle);
            }
        } catch (LostDeviceException lost) {
            // nothing is left to end
        } finally {
            arena.close();
        }
    }
}
