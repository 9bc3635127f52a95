package dev.troupe.engine.cuda.blas;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.troupe.engine.cuda.blas.Matrix.Layout;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * A cuBLASLt on the interpreter: native functions with the signatures of {@code cublasLt.h}, which check their arguments as
 * the library does or more strictly, and multiply by its description, D = alpha op(A) op(B) + beta C + bias of column-major
 * matrices, in the device's memory and in the order of the stream. The numbers of the header are written here again.
 */
public final class StandInCublasLt {
    /** The file that sentences name. */
    public static final Path FILE = Path.of("/stand-in/libcublasLt.so.13");

    private static final int SUCCESS = 0;
    private static final int INVALID_VALUE = 7;
    private static final int INTERNAL_ERROR = 14;
    private static final int NOT_SUPPORTED = 15;
    private static final Map<Integer, String> STATUS_NAMES = Map.of(SUCCESS, "CUBLAS_STATUS_SUCCESS", 1,
            "CUBLAS_STATUS_NOT_INITIALIZED", INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", INTERNAL_ERROR,
            "CUBLAS_STATUS_INTERNAL_ERROR", NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED");

    private static final int COMPUTE_32F = 68;
    private static final int REAL_32F = 0;
    private static final int REAL_16BF = 14;
    private static final int TRANSPOSE_A = 3;
    private static final int TRANSPOSE_B = 4;
    private static final int EPILOGUE = 7;
    private static final int BIAS_POINTER = 8;
    private static final int BIAS_TYPE = 26;
    private static final int EPILOGUE_DEFAULT = 1;
    private static final int EPILOGUE_BIAS = 4;
    private static final Map<Integer, Integer> DESC_BYTES = Map.of(TRANSPOSE_A, 4, TRANSPOSE_B, 4, EPILOGUE, 4,
            BIAS_POINTER, 8, BIAS_TYPE, 4);
    private static final int MAX_WORKSPACE = 1;
    private static final int REDUCTION_MASK = 3;
    /** Of A; B, C and D follow. */
    private static final int FIRST_ALIGNMENT = 5;
    private static final Map<Integer, Integer> PREFERENCE_BYTES = Map.of(MAX_WORKSPACE, 8, REDUCTION_MASK, 4, 5, 4, 6,
            4,
            7, 4, 8, 4);
    private static final long DEFAULT_ALIGNMENT = 256;
    private static final int WORDS_OF_ALGORITHM = 8;
    private static final long SCRIBBLED_BYTES = 4096;

    private final InterpretedDevice device;
    private final Function<Asked, Answer> answers;
    private final long version;
    private final Arena arena = Arena.ofAuto();
    private final Map<Long, Object> objects = new HashMap<>();
    private final Map<String, MemorySegment> symbols;
    private String failure = "";
    private String loss = "";
    private int products;
    private int heuristics;

    public enum Answer {
        HAS, NONE,
        /** It returns an invalid one. */
        NONE_VALID,
        /** It does not compute such products. */
        REFUSES,
        /** It takes them to be wrong. */
        INVALID
    }

    /** A product, column-major: D [m x n] = op(A) op(B). */
    public record Asked(boolean transposeA, boolean transposeB, boolean hasBias, long m, long n, long k, int operands,
            int product) {
        /** By the library's tables a bias has the type of the product. */
        Answer byTheTables() {
            return hasBias && product != REAL_32F ? Answer.REFUSES : Answer.HAS;
        }
    }

    private static final class Handle {
    }

    private record Operation(Map<Integer, Long> attributes) {
        long get(int attribute, long otherwise) {
            return attributes.getOrDefault(attribute, otherwise);
        }
    }

    private record Preference(Map<Integer, Long> attributes) {
    }

    private record Algorithm(Asked of, long workspaceBytes, long[] alignments) {
    }

    /** A library of version 13.1.0 that has an algorithm for all that its tables list. */
    public StandInCublasLt(InterpretedDevice device) {
        this(device, Asked::byTheTables, 130100);
    }

    public StandInCublasLt(InterpretedDevice device, Function<Asked, Answer> answers) {
        this(device, answers, 130100);
    }

    StandInCublasLt(InterpretedDevice device, Function<Asked, Answer> answers, long version) {
        this.device = device;
        this.answers = answers;
        this.version = version;
        symbols = NativeFunctions.of(this, MethodHandles.lookup(), "cublasLt", arena, thrown -> {
            failure = ": " + thrown;
            return INTERNAL_ERROR;
        });
    }

    public CublasLt library() {
        return new CublasLt(FILE, name -> Optional.ofNullable(symbols.get(name)));
    }

    /** Has it lack a function. */
    StandInCublasLt without(String function) {
        symbols.remove(function);
        return this;
    }

    /** Has the device be lost when the next product is asked for. */
    void loseDevice(String why) {
        loss = why;
    }

    /** The products that it was asked for so far. */
    public int products() {
        return products;
    }

    /** How often it was asked for an algorithm. */
    public int heuristics() {
        return heuristics;
    }

    public long open() {
        return objects.values().stream().filter(object -> !(object instanceof Algorithm)).count();
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }

    private int made(MemorySegment result, Object object) {
        long address = arena.allocate(1).address();
        objects.put(address, object);
        memory(result, 8).set(JAVA_LONG_UNALIGNED, 0, address);
        return SUCCESS;
    }

    private <T> T known(MemorySegment pointer, Class<T> type) {
        Object found = objects.get(pointer.address());
        require(type.isInstance(found), "expected a " + type.getSimpleName() + ", but found " + found);
        return type.cast(found);
    }

    private int ended(MemorySegment pointer, Class<?> type) {
        known(pointer, type);
        objects.remove(pointer.address());
        return SUCCESS;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment memory(MemorySegment pointer, long bytes) {
        require(pointer.address() != 0, "a pointer is null");
        return pointer.reinterpret(bytes);
    }

    private static long value(MemorySegment buffer, long bytes) {
        MemorySegment value = memory(buffer, bytes);
        return bytes == 8 ? value.get(JAVA_LONG_UNALIGNED, 0) : value.get(JAVA_INT_UNALIGNED, 0);
    }

    private static int set(Map<Integer, Integer> sizes, Map<Integer, Long> attributes, int attribute,
            MemorySegment buffer, long bytes) {
        if (!sizes.containsKey(attribute) || sizes.get(attribute) != bytes) {
            return INVALID_VALUE;
        }
        attributes.put(attribute, value(buffer, bytes));
        return SUCCESS;
    }

    long cublasLtGetVersion() {
        return version;
    }

    MemorySegment cublasLtGetStatusName(int status) {
        return arena.allocateFrom(STATUS_NAMES.getOrDefault(status, "CUBLAS_STATUS_UNKNOWN")
                + (status == INTERNAL_ERROR ? failure : ""));
    }

    int cublasLtCreate(MemorySegment lightHandle) {
        device.requireCurrent();
        return made(lightHandle, new Handle());
    }

    int cublasLtDestroy(MemorySegment lightHandle) {
        device.requireCurrent();
        return ended(lightHandle, Handle.class);
    }

    int cublasLtMatmulDescCreate(MemorySegment desc, int computeType, int scaleType) {
        require(computeType == COMPUTE_32F && scaleType == REAL_32F, "products are added up in float32");
        return made(desc, new Operation(new HashMap<>()));
    }

    int cublasLtMatmulDescSetAttribute(MemorySegment desc, int attribute, MemorySegment buffer, long bytes) {
        return set(DESC_BYTES, known(desc, Operation.class).attributes, attribute, buffer, bytes);
    }

    int cublasLtMatmulDescGetAttribute(MemorySegment desc, int attribute, MemorySegment buffer, long bytes,
            MemorySegment written) {
        if (!DESC_BYTES.containsKey(attribute) || DESC_BYTES.get(attribute) != bytes) {
            return INVALID_VALUE;
        }
        long found = known(desc, Operation.class).get(attribute, 0);
        MemorySegment to = memory(buffer, bytes);
        if (bytes == 8) {
            to.set(JAVA_LONG_UNALIGNED, 0, found);
        } else {
            to.set(JAVA_INT_UNALIGNED, 0, (int) found);
        }
        memory(written, 8).set(JAVA_LONG_UNALIGNED, 0, bytes);
        return SUCCESS;
    }

    int cublasLtMatmulDescDestroy(MemorySegment desc) {
        return ended(desc, Operation.class);
    }

    int cublasLtMatrixLayoutCreate(MemorySegment layout, int type, long rows, long columns, long leading) {
        require(type == REAL_32F || type == REAL_16BF, "no type of ours: " + type);
        return rows < 1 || columns < 1 || leading < rows
                ? INVALID_VALUE
                : made(layout, new Layout(type, rows, columns, leading));
    }

    int cublasLtMatrixLayoutDestroy(MemorySegment layout) {
        return ended(layout, Layout.class);
    }

    int cublasLtMatmulPreferenceCreate(MemorySegment preference) {
        return made(preference, new Preference(new HashMap<>()));
    }

    int cublasLtMatmulPreferenceSetAttribute(MemorySegment preference, int attribute, MemorySegment buffer,
            long bytes) {
        return set(PREFERENCE_BYTES, known(preference, Preference.class).attributes, attribute, buffer, bytes);
    }

    int cublasLtMatmulPreferenceDestroy(MemorySegment preference) {
        return ended(preference, Preference.class);
    }

    /** The requested product, or null if the descriptors do not fit together. */
    private Asked asked(Operation operation, Layout a, Layout b, Layout c, Layout d) {
        boolean transposeA = operation.get(TRANSPOSE_A, 0) == 1;
        boolean transposeB = operation.get(TRANSPOSE_B, 0) == 1;
        long m = transposeA ? a.columns() : a.rows();
        long k = transposeA ? a.rows() : a.columns();
        long n = transposeB ? b.rows() : b.columns();
        long epilogue = operation.get(EPILOGUE, EPILOGUE_DEFAULT);
        boolean fits = k == (transposeB ? b.columns() : b.rows()) && d.rows() == m && d.columns() == n && c.equals(d)
                && a.type() == b.type() && (a.type() == REAL_16BF || d.type() == REAL_32F)
                && (epilogue == EPILOGUE_DEFAULT || epilogue == EPILOGUE_BIAS
                        && operation.get(BIAS_POINTER, 0) != 0 && operation.get(BIAS_TYPE, -1) == REAL_32F);
        return fits
                ? new Asked(transposeA, transposeB, epilogue == EPILOGUE_BIAS, m, n, k, a.type(), d.type())
                : null;
    }

    int cublasLtMatmulAlgoGetHeuristic(MemorySegment lightHandle, MemorySegment desc, MemorySegment aDesc,
            MemorySegment bDesc, MemorySegment cDesc, MemorySegment dDesc, MemorySegment preference, int requested,
            MemorySegment results, MemorySegment returned) {
        device.requireCurrent();
        heuristics++;
        known(lightHandle, Handle.class);
        Asked asked = asked(known(desc, Operation.class), known(aDesc, Layout.class), known(bDesc, Layout.class),
                known(cDesc, Layout.class), known(dDesc, Layout.class));
        Map<Integer, Long> preferences = known(preference, Preference.class).attributes;
        require(preferences.get(REDUCTION_MASK) == 2, "parts of a sum may be joined in the product's type");
        require(preferences.get(MAX_WORKSPACE) >= SCRIBBLED_BYTES, "too little scratch memory");
        if (asked == null || requested < 1) {
            return INVALID_VALUE;
        }
        Answer answer = answers.apply(asked);
        memory(results, 96L * requested).fill((byte) (answer == Answer.NONE ? SUCCESS : -1));
        memory(returned, 4).set(JAVA_INT, 0, answer == Answer.HAS || answer == Answer.NONE_VALID ? 1 : 0);
        if (answer == Answer.HAS) {
            long number = arena.allocate(1).address();
            long[] alignments = new long[4];
            Arrays.setAll(alignments, i -> preferences.getOrDefault(FIRST_ALIGNMENT + i, DEFAULT_ALIGNMENT));
            objects.put(number, new Algorithm(asked, SCRIBBLED_BYTES, alignments));
            MemorySegment result = memory(results, 96);
            for (int word = 0; word < WORDS_OF_ALGORITHM; word++) {
                result.set(JAVA_LONG_UNALIGNED, 8L * word, number * (word + 1));
            }
            result.set(JAVA_LONG_UNALIGNED, 64, SCRIBBLED_BYTES);
            result.set(JAVA_INT_UNALIGNED, 72, SUCCESS);
        }
        return answer == Answer.REFUSES ? NOT_SUPPORTED : answer == Answer.INVALID ? INVALID_VALUE : SUCCESS;
    }

    private Algorithm algorithm(MemorySegment pointer) {
        MemorySegment words = memory(pointer, 8L * WORDS_OF_ALGORITHM);
        long number = words.get(JAVA_LONG_UNALIGNED, 0);
        for (int word = 0; word < WORDS_OF_ALGORITHM; word++) {
            require(words.get(JAVA_LONG_UNALIGNED, 8L * word) == number * (word + 1),
                    "a word of the algorithm is wrong");
        }
        require(objects.get(number) instanceof Algorithm, "no algorithm of mine");
        return (Algorithm) objects.get(number);
    }

    int cublasLtMatmul(MemorySegment lightHandle, MemorySegment computeDesc, MemorySegment alpha, MemorySegment a,
            MemorySegment aDesc, MemorySegment b, MemorySegment bDesc, MemorySegment beta, MemorySegment c,
            MemorySegment cDesc, MemorySegment d, MemorySegment dDesc, MemorySegment algo, MemorySegment workspace,
            long workspaceBytes, MemorySegment stream) {
        if (!loss.isEmpty()) {
            device.lose(loss);
        }
        device.requireCurrent();
        products++;
        known(lightHandle, Handle.class);
        Operation operation = known(computeDesc, Operation.class);
        Layout left = known(aDesc, Layout.class);
        Layout right = known(bDesc, Layout.class);
        Layout product = known(dDesc, Layout.class);
        Asked asked = asked(operation, left, right, known(cDesc, Layout.class), product);
        Algorithm algorithm = algorithm(algo);
        require(algorithm.of.equals(asked), "the algorithm is for " + algorithm.of + " and not for " + asked);
        require(workspaceBytes >= algorithm.workspaceBytes, "the algorithm needs more scratch memory");
        long[] addresses = {a.address(), b.address(), c.address(), d.address()};
        for (int i = 0; i < addresses.length; i++) {
            require(addresses[i] % algorithm.alignments[i] == 0, "matrix %d at %#x is no multiple of %d".formatted(i,
                    addresses[i], algorithm.alignments[i]));
        }
        long bias = asked.hasBias ? operation.get(BIAS_POINTER, 0) : 0;
        require(bias % 16 == 0, "the bias begins at no multiple of 16");
        float factor = memory(alpha, 4).get(JAVA_FLOAT, 0);
        float kept = memory(beta, 4).get(JAVA_FLOAT, 0);
        long scratch = workspace.address();
        device.ask(stream.address(), () -> {
            device.memory(scratch, workspaceBytes).asSlice(0, SCRIBBLED_BYTES).fill((byte) -1);
            Matrix added = kept == 0 ? null : new Matrix(device, addresses[2], product);
            MemorySegment biases = bias == 0 ? null : device.memory(bias, 4 * asked.m);
            new Matrix(device, addresses[3], product).take(factor,
                    new Matrix(device, addresses[0], left).numbers(asked.transposeA),
                    new Matrix(device, addresses[1], right).numbers(asked.transposeB), kept, added, biases);
        });
        return SUCCESS;
    }
}
