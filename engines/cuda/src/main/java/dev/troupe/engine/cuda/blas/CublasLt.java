package dev.troupe.engine.cuda.blas;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.provider.SharedLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * NVIDIA's cuBLASLt of CUDA 12 or 13, called by the foreign function API ({@code cublasLt.h}). Handles and addresses on the
 * device are plain longs. Matrices are column-major, as in the library.
 *
 * <p>Thread rule: any thread; the device must be current to a thread that creates, uses or destroys a handle; one thread at
 * a time uses a handle or a descriptor.
 *
 * <p>Errors: a refusal by the library raises {@link DeviceException} with the library's name of the status.
 */
public final class CublasLt {
    static final String NAME = "cuBLASLt";

    // Values of cublasLt.h, cublas_api.h and library_types.h, under their names there.
    static final int CUBLAS_COMPUTE_32F = 68;
    static final int CUDA_R_32F = 0;
    static final int CUDA_R_16BF = 14;
    static final int CUBLAS_OP_N = 0;
    static final int CUBLAS_OP_T = 1;
    static final int CUBLASLT_EPILOGUE_BIAS = 4;
    static final int CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2;
    static final int CUBLAS_STATUS_SUCCESS = 0;
    static final int CUBLAS_STATUS_INVALID_VALUE = 7;
    static final int CUBLAS_STATUS_NOT_SUPPORTED = 15;

    /** Bytes of a {@code cublasLtMatmulAlgo_t}. */
    static final long ALGORITHM_BYTES = 64;
    /** Bytes of a {@code cublasLtMatmulHeuristicResult_t}: the algorithm, bytes of workspace, a status, and more. */
    private static final long RESULT_BYTES = 96;
    private static final long RESULT_STATE = 72;

    private static final int LEAST_VERSION = 12_00_00;
    private static final int VERSION_BEYOND = 14_00_00;
    private static final int MAJOR = 1_00_00;
    private static final int MINOR = 1_00;
    private static final long MOST_CHARACTERS = 256;
    private static final Map<Path, CublasLt> LOADED = new ConcurrentHashMap<>();

    private final Path file;
    private final SymbolLookup symbols;
    private final String version;
    private final MethodHandle statusName;
    private final MethodHandle create;
    private final MethodHandle destroy;
    private final MethodHandle descCreate;
    private final MethodHandle descSetAttribute;
    private final MethodHandle descGetAttribute;
    private final MethodHandle descDestroy;
    private final MethodHandle layoutCreate;
    private final MethodHandle layoutDestroy;
    private final MethodHandle preferenceCreate;
    private final MethodHandle preferenceSetAttribute;
    private final MethodHandle preferenceDestroy;
    private final MethodHandle getHeuristic;
    private final MethodHandle matmul;

    /** {@code CUBLASLT_MATMUL_DESC_*}: the properties of a product. */
    enum Attribute {
        TRANSA(3, Integer.BYTES), TRANSB(4, Integer.BYTES),
        /** The operation on a sum before it is stored. */
        EPILOGUE(7, Integer.BYTES),
        /** The address of the bias, a number for each row of the product. */
        BIAS_POINTER(8, Long.BYTES), BIAS_DATA_TYPE(26, Integer.BYTES);

        final int code;
        final int bytes;

        Attribute(int code, int bytes) {
            this.code = code;
            this.bytes = bytes;
        }
    }

    /** {@code CUBLASLT_MATMUL_PREF_*}: limits on the choice of an algorithm. */
    enum Preference {
        MAX_WORKSPACE_BYTES(1, Long.BYTES),
        /** The allowed ways of joining parts of a sum. */
        REDUCTION_SCHEME_MASK(3, Integer.BYTES), MIN_ALIGNMENT_A_BYTES(5, Integer.BYTES), MIN_ALIGNMENT_B_BYTES(6,
                Integer.BYTES), MIN_ALIGNMENT_C_BYTES(7, Integer.BYTES), MIN_ALIGNMENT_D_BYTES(8, Integer.BYTES);

        final int code;
        final int bytes;

        Preference(int code, int bytes) {
            this.code = code;
            this.bytes = bytes;
        }
    }

    /**
     * A library with a lookup of its functions.
     *
     * @param file its place, for sentences
     * @throws IllegalStateException with a sentence, if a function is missing or the library has another version
     */
    public CublasLt(Path file, SymbolLookup symbols) {
        this.file = file;
        this.symbols = symbols;
        version = version(function("cublasLtGetVersion", FunctionDescriptor.of(JAVA_LONG)));
        statusName = function("cublasLtGetStatusName", FunctionDescriptor.of(ADDRESS, JAVA_INT));
        create = function("cublasLtCreate", ADDRESS);
        destroy = function("cublasLtDestroy", JAVA_LONG);
        descCreate = function("cublasLtMatmulDescCreate", ADDRESS, JAVA_INT, JAVA_INT);
        descSetAttribute = function("cublasLtMatmulDescSetAttribute", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
        descGetAttribute = function("cublasLtMatmulDescGetAttribute", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG,
                ADDRESS);
        descDestroy = function("cublasLtMatmulDescDestroy", JAVA_LONG);
        layoutCreate = function("cublasLtMatrixLayoutCreate", ADDRESS, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        layoutDestroy = function("cublasLtMatrixLayoutDestroy", JAVA_LONG);
        preferenceCreate = function("cublasLtMatmulPreferenceCreate", ADDRESS);
        preferenceSetAttribute = function("cublasLtMatmulPreferenceSetAttribute", JAVA_LONG, JAVA_INT, ADDRESS,
                JAVA_LONG);
        preferenceDestroy = function("cublasLtMatmulPreferenceDestroy", JAVA_LONG);
        getHeuristic = function("cublasLtMatmulAlgoGetHeuristic", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS);
        matmul = function("cublasLtMatmul", JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG,
                JAVA_LONG);
    }

    /**
     * Loads the library of a file for the rest of the process.
     *
     * @throws IllegalStateException with a sentence, if it cannot be loaded, a function is missing or it has another
     *     version
     */
    public static CublasLt at(Path file) {
        return LOADED.computeIfAbsent(file.normalize(), there -> new CublasLt(there, SharedLibrary.load(NAME, there)));
    }

    private MethodHandle function(String name, MemoryLayout... parameters) {
        return function(name, FunctionDescriptor.of(JAVA_INT, parameters));
    }

    @SuppressWarnings("restricted")
    private MethodHandle function(String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(symbols.find(name).orElseThrow(
                () -> refused("has no function " + name + ": name the library of CUDA 12 or 13")), type);
    }

    private String version(MethodHandle getVersion) {
        long found;
        try {
            found = (long) getVersion.invokeExact();
        } catch (Throwable failure) {
            throw refused("could not be asked for its version: " + failure);
        }
        if (found < LEAST_VERSION || found >= VERSION_BEYOND) {
            throw refused(
                    String.format(Locale.ROOT,
                            "reports version %d, but versions from %d to below %d are known: "
                                    + "name the library of CUDA 12 or 13",
                            found, LEAST_VERSION, VERSION_BEYOND));
        }
        return found / MAJOR + "." + found % MAJOR / MINOR + "." + found % MINOR;
    }

    private IllegalStateException refused(String why) {
        return SharedLibrary.refused(NAME, file, why);
    }

    /** Its name with its version, as in {@code cuBLASLt 12.6.3}. */
    public String name() {
        return NAME + " " + version;
    }

    public Path file() {
        return file;
    }

    @FunctionalInterface
    private interface Call {
        int invoke() throws Throwable;
    }

    /** A call of the library that writes a handle. */
    @FunctionalInterface
    private interface Creation {
        int invoke(MemorySegment result) throws Throwable;
    }

    /** Checks the result of a function; its purpose is for the sentence of a failure. */
    private int status(String what, Call call) {
        try {
            return call.invoke();
        } catch (Throwable failure) {
            throw new DeviceException(name() + " could not be called to " + what + ": " + failure, failure);
        }
    }

    private void call(String what, Call call) {
        require(what, status(what, call));
    }

    private void require(String what, int status) {
        if (status != CUBLAS_STATUS_SUCCESS) {
            throw new DeviceException(
                    String.format(Locale.ROOT, "%s (%s) could not %s: %s (status %d)", name(), file, what,
                            statusName(status), status));
        }
    }

    private long make(String what, Creation creation) {
        try (Arena local = Arena.ofConfined()) {
            MemorySegment result = local.allocate(JAVA_LONG);
            call(what, () -> creation.invoke(result));
            return result.get(JAVA_LONG, 0);
        }
    }

    @SuppressWarnings("restricted")
    private String statusName(int status) {
        try {
            MemorySegment name = (MemorySegment) statusName.invokeExact(status);
            return name.reinterpret(MOST_CHARACTERS).getString(0);
        } catch (Throwable failure) {
            return "an error without a readable name";
        }
    }

    /** Creates a handle on the current device. */
    long createHandle() {
        return make("begin", result -> (int) create.invokeExact(result));
    }

    void destroyHandle(long handle) {
        call("end", () -> (int) destroy.invokeExact(handle));
    }

    /** Creates the descriptor of products that are summed and scaled in float32. */
    long createOperation() {
        return make("describe a product",
                result -> (int) descCreate.invokeExact(result, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    }

    void set(long operation, Attribute attribute, long value) {
        try (Arena local = Arena.ofConfined()) {
            MemorySegment slot = local.allocateFrom(JAVA_LONG, value); // the lower bytes come first
            call("set " + attribute, () -> (int) descSetAttribute.invokeExact(operation, attribute.code, slot,
                    (long) attribute.bytes));
        }
    }

    long get(long operation, Attribute attribute) {
        try (Arena local = Arena.ofConfined()) {
            MemorySegment slot = local.allocate(JAVA_LONG);
            MemorySegment written = local.allocate(JAVA_LONG);
            call("read " + attribute, () -> (int) descGetAttribute.invokeExact(operation, attribute.code, slot,
                    (long) attribute.bytes, written));
            return slot.get(JAVA_LONG, 0);
        }
    }

    void destroyOperation(long operation) {
        call("forget a product", () -> (int) descDestroy.invokeExact(operation));
    }

    /**
     * Creates the layout of a matrix in memory; {@code leading} is the distance between two neighbours of a row, in
     * elements.
     */
    long createLayout(int type, long rows, long columns, long leading) {
        return make("describe a matrix",
                result -> (int) layoutCreate.invokeExact(result, type, rows, columns, leading));
    }

    void destroyLayout(long layout) {
        call("forget a matrix", () -> (int) layoutDestroy.invokeExact(layout));
    }

    long createPreference() {
        return make("describe a preference", result -> (int) preferenceCreate.invokeExact(result));
    }

    void set(long preference, Preference attribute, long value) {
        try (Arena local = Arena.ofConfined()) {
            MemorySegment slot = local.allocateFrom(JAVA_LONG, value); // the lower bytes come first
            call("set " + attribute, () -> (int) preferenceSetAttribute.invokeExact(preference, attribute.code, slot,
                    (long) attribute.bytes));
        }
    }

    void destroyPreference(long preference) {
        call("forget a preference", () -> (int) preferenceDestroy.invokeExact(preference));
    }

    /**
     * Finds the algorithm that the library's rules, not measurements, consider the fastest.
     *
     * @param layouts of a, b, c and d
     * @param mayBeInvalid whether INVALID_VALUE means that the library does not compute such products
     * @param algorithm {@value #ALGORITHM_BYTES} bytes, written if there is an algorithm
     * @return whether there is an algorithm
     */
    boolean findAlgorithm(long handle, long operation, Layouts layouts, long preference, boolean mayBeInvalid,
            MemorySegment algorithm) {
        String what = "find an algorithm for a product";
        try (Arena local = Arena.ofConfined()) {
            MemorySegment results = local.allocate(RESULT_BYTES, Long.BYTES);
            MemorySegment count = local.allocate(JAVA_INT);
            int status = status(what, () -> (int) getHeuristic.invokeExact(handle, operation, layouts.a, layouts.b,
                    layouts.c, layouts.d, preference, 1, results, count));
            if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE && mayBeInvalid) {
                return false;
            }
            require(what, status);
            if (count.get(JAVA_INT, 0) < 1 || results.get(JAVA_INT, RESULT_STATE) != CUBLAS_STATUS_SUCCESS) {
                return false;
            }
            MemorySegment.copy(results, 0, algorithm, 0, ALGORITHM_BYTES);
            return true;
        }
    }

    /**
     * Launches {@code d = alpha op(a) op(b) + beta c} on a stream.
     *
     * @param alpha a float in the host's memory, as is beta
     * @param layouts of a, b, c and d
     */
    void multiply(long handle, long operation, MemorySegment alpha, long a, long b, MemorySegment beta, long c, long d,
            Layouts layouts, MemorySegment algorithm, long workspace, long workspaceBytes, long stream) {
        call("multiply", () -> (int) matmul.invokeExact(handle, operation, alpha, a, layouts.a, b, layouts.b, beta, c,
                layouts.c, d, layouts.d, algorithm, workspace, workspaceBytes, stream));
    }

    /** The layouts of the four matrices of a product. */
    record Layouts(long a, long b, long c, long d) {
    }
}
