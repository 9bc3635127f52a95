package dev.troupe.engine.cpu.library;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.troupe.engine.provider.SharedLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A BLAS with the C interface, called by the foreign function API. It is loaded once for the process, set to one thread, and
 * tested with a small product before use.
 *
 * <p>Thread rule: any thread.
 */
public final class Cblas implements Sgemm {
    private static final int ROW_MAJOR = 101;
    private static final int AS_STORED = 111;
    private static final int TRANSPOSED = 112;
    private static final String WHAT = "BLAS";
    private static final String PRODUCT = "cblas_sgemm";
    private static final int MOST_WORDS = 1024;
    private static final Map<Path, Cblas> LOADED = new ConcurrentHashMap<>();

    private final Path file;
    private final SymbolLookup symbols;
    private final MethodHandle sgemm;
    /** The setter of OpenMP's number of threads, which each calling thread has; null if the library has no OpenMP. */
    private final MethodHandle setOwnThreads;

    private Cblas(Path file) {
        this.file = file;
        this.symbols = SharedLibrary.load(WHAT, file);
        this.sgemm = downcall(PRODUCT,
                FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_FLOAT,
                        JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_FLOAT, JAVA_LONG, JAVA_INT))
                .orElseThrow(() -> refused("has no function " + PRODUCT
                        + ": name a BLAS with the C interface and 32-bit integers"));
        this.setOwnThreads = downcall("omp_set_num_threads", FunctionDescriptor.ofVoid(JAVA_INT)).orElse(null);
    }

    /**
     * Returns the library of a file.
     *
     * @throws IllegalStateException with a sentence, if it cannot be loaded or multiplies wrongly
     */
    public static Cblas at(Path file) {
        return LOADED.computeIfAbsent(file.normalize(), there -> {
            Cblas library = new Cblas(there);
            library.takeOneThread();
            library.requireRightProduct();
            return library;
        });
    }

    /** The library's own description, and the size of its file, since most libraries have no description. */
    public String version() {
        return (file.getFileName() + " of " + file.toFile().length() + " bytes " + text("openblas_get_config")).strip();
    }

    @Override
    public void multiply(boolean transposeA, boolean transposeB, long m, long n, long k, float alpha, long a,
            long aStride, long b, long bStride, float beta, long c, long cStride) {
        ProductEvent event = new ProductEvent();
        event.begin();
        try {
            if (setOwnThreads != null) {
                setOwnThreads.invokeExact(1);
            }
            sgemm.invokeExact(ROW_MAJOR, transposeA ? TRANSPOSED : AS_STORED, transposeB ? TRANSPOSED : AS_STORED,
                    (int) m, (int) n, (int) k, alpha, a, (int) aStride, b, (int) bStride, beta, c, (int) cStride);
        } catch (Throwable failure) {
            throw new IllegalStateException("the matrix product of " + file + " could not be called: " + failure,
                    failure);
        }
        event.commit();
    }

    private IllegalStateException refused(String why) {
        return SharedLibrary.refused(WHAT, file, why);
    }

    @SuppressWarnings("restricted")
    private Optional<MethodHandle> downcall(String function, FunctionDescriptor type) {
        return symbols.find(function).map(address -> Linker.nativeLinker().downcallHandle(address, type));
    }

    /**
     * The library's threads would compete with the engine's, and sums would depend on their number; they end if possible.
     */
    private void takeOneThread() {
        FunctionDescriptor number = FunctionDescriptor.ofVoid(JAVA_INT);
        try {
            for (String function : new String[]{"openblas_set_num_threads", "MKL_Set_Num_Threads"}) {
                Optional<MethodHandle> set = downcall(function, number);
                if (set.isPresent()) {
                    set.get().invokeExact(1);
                }
            }
            Optional<MethodHandle> ofBlis = downcall("bli_thread_set_num_threads",
                    FunctionDescriptor.ofVoid(JAVA_LONG));
            if (ofBlis.isPresent()) {
                ofBlis.get().invokeExact(1L);
            }
            Optional<MethodHandle> end = downcall("blas_thread_shutdown_", FunctionDescriptor.of(JAVA_INT));
            if (end.isPresent()) {
                int _ = (int) end.get().invokeExact();
            }
        } catch (Throwable failure) {
            throw new IllegalStateException("the BLAS " + file + " does not accept a number of threads: " + failure,
                    failure);
        }
    }

    /** A library with 64-bit integers has the same names, and other results. */
    private void requireRightProduct() {
        int m = 2;
        int n = 3;
        int k = 2;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment a = arena.allocateFrom(JAVA_FLOAT, 1, 2, 3, 4);
            MemorySegment b = arena.allocateFrom(JAVA_FLOAT, 5, 6, 7, 8, 9, 10);
            MemorySegment c = arena.allocateFrom(JAVA_FLOAT, 1, 1, 1, 1, 1, 1);
            // b is the transpose of a matrix of two rows: of columns (5 6), (7 8), (9 10).
            multiply(false, true, m, n, k, 1, a.address(), k, b.address(), k, 1, c.address(), n);
            float[] expected = {18, 24, 30, 40, 54, 68};
            for (int i = 0; i < expected.length; i++) {
                if (c.getAtIndex(JAVA_FLOAT, i) != expected[i]) {
                    throw refused("multiplies [2 x 2] and [2 x 3] wrongly: element " + i + " should be " + expected[i]
                            + ", but is " + c.getAtIndex(JAVA_FLOAT, i) + "; is it built with 64-bit integers?");
                }
            }
        }
    }

    @SuppressWarnings("restricted")
    private String text(String function) {
        return downcall(function, FunctionDescriptor.of(ADDRESS
                .withTargetLayout(MemoryLayout.sequenceLayout(MOST_WORDS, java.lang.foreign.ValueLayout.JAVA_BYTE))))
                .map(handle -> {
                    try {
                        return ((MemorySegment) handle.invokeExact()).getString(0);
                    } catch (Throwable failure) {
                        throw new IllegalStateException(function + " of " + file + " could not be called: " + failure,
                                failure);
                    }
                }).orElse("");
    }
}
