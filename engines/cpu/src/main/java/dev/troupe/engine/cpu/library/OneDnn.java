package dev.troupe.engine.cpu.library;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import org.bytedeco.javacpp.Loader;

/**
 * oneDNN's matrix product, called by the foreign function API. The library is unpacked from the jar of its presets and
 * loaded at the first use of this class; if that fails, a use raises {@link ExceptionInInitializerError} and later
 * {@link NoClassDefFoundError}.
 *
 * <p>Thread rule: any thread. The calling thread alone computes a product: oneDNN would otherwise use OpenMP's threads,
 * which each calling thread has, and which wait by spinning.
 */
public final class OneDnn {
    /**
     * Up to this depth the kernels of {@code dnnl_sgemm} copy a panel to the thread's stack. From 85 on those without
     * packing use the heap instead, with the stack pointer in it ({@code jit_avx512_common_gemm_f32.cpp},
     * {@code jit_avx_gemm_f32.cpp}); signals are blocked meanwhile.
     */
    private static final int DEEPEST_ON_STACK = 64;

    private static final String FOLDER = "/org/bytedeco/dnnl/";
    private static final SymbolLookup LIBRARY;
    private static final MethodHandle SGEMM;
    private static final MethodHandle SET_THREADS;
    private static final String VERSION;
    private static final int INSTRUCTION_SET;

    static {
        SymbolLookup library = load();
        // Addresses are passed as plain numbers: a call needs neither segments nor their liveness checks.
        LIBRARY = library;
        SGEMM = downcall(library, "dnnl_sgemm",
                FunctionDescriptor.of(JAVA_INT, JAVA_BYTE, JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_FLOAT,
                        JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_FLOAT, JAVA_LONG, JAVA_LONG));
        // Found through oneDNN, since a process may have several OpenMP libraries.
        SET_THREADS = downcall(library, "omp_set_num_threads", FunctionDescriptor.ofVoid(JAVA_INT),
                Linker.Option.critical(false));
        VERSION = version(library);
        INSTRUCTION_SET = instructionSet(library);
    }

    private OneDnn() {
    }

    /** As in {@code 3.11.0}. */
    public static String version() {
        return VERSION;
    }

    /**
     * The instruction set that oneDNN uses, as its {@code dnnl_cpu_isa_t} on x86-64: the processor's, or less if the
     * environment limits it.
     */
    static int instructionSet() {
        return INSTRUCTION_SET;
    }

    /**
     * {@code c = alpha op(a) op(b) + beta c} for row-major matrices at native addresses, on the calling thread alone. With a
     * beta of 0, c is not read.
     *
     * @param m rows of op(a) and c
     * @param n columns of op(b) and c
     * @param k columns of op(a), rows of op(b)
     * @param aStride elements from one stored row of a to the next; likewise the others
     */
    public static void sgemm(boolean transposeA, boolean transposeB, long m, long n, long k, float alpha, long a,
            long aStride, long b, long bStride, float beta, long c, long cStride) {
        int status;
        ProductEvent event = new ProductEvent();
        event.begin();
        MemorySegment signals = k > DEEPEST_ON_STACK ? HeldSignals.hold() : null;
        try {
            useThisThreadAlone();
            status = (int) SGEMM.invokeExact(letter(transposeA), letter(transposeB), m, n, k, alpha, a, aStride, b,
                    bStride, beta, c, cStride);
        } catch (Throwable failure) {
            throw new IllegalStateException("oneDNN's matrix product could not be called: " + failure, failure);
        } finally {
            if (signals != null) {
                HeldSignals.release(signals);
            }
        }
        event.commit();
        if (status != 0) {
            throw new IllegalStateException(
                    String.format(Locale.ROOT,
                            "oneDNN refused a product of [%d x %d] and [%d x %d]: status %d; 1 means out of memory", m,
                            k, k, n, status));
        }
    }

    /** Called before each product, since other code on this thread may have set another number of threads. */
    static void useThisThreadAlone() {
        try {
            SET_THREADS.invokeExact(1);
        } catch (Throwable failure) {
            throw new IllegalStateException("oneDNN's OpenMP could not be called: " + failure, failure);
        }
    }

    static MethodHandle function(String name, FunctionDescriptor type, Linker.Option... options) {
        return downcall(LIBRARY, name, type, options);
    }

    private static byte letter(boolean transpose) {
        return (byte) (transpose ? 'T' : 'N');
    }

    @SuppressWarnings("restricted")
    private static SymbolLookup load() {
        String folder = FOLDER + Loader.Detector.getPlatform() + "/";
        // oneDNN looks for OpenMP's library in its own folder.
        Unpacked.file("oneDNN", folder + "libgomp.so.1");
        return SymbolLookup.libraryLookup(Unpacked.file("oneDNN", folder + "libdnnl.so.3").toPath(), Arena.global());
    }

    @SuppressWarnings("restricted")
    private static MethodHandle downcall(SymbolLookup library, String function, FunctionDescriptor type,
            Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(library.find(function).orElseThrow(
                () -> new IllegalStateException("the oneDNN of this build has no " + function)), type, options);
    }

    private static int instructionSet(SymbolLookup library) {
        try {
            return (int) downcall(library, "dnnl_get_effective_cpu_isa", FunctionDescriptor.of(JAVA_INT)).invokeExact();
        } catch (Throwable failure) {
            throw new IllegalStateException("oneDNN's instruction set could not be read: " + failure, failure);
        }
    }

    @SuppressWarnings("restricted")
    private static String version(SymbolLookup library) {
        try {
            long address = (long) downcall(library, "dnnl_version", FunctionDescriptor.of(JAVA_LONG)).invokeExact();
            // struct { int major, minor, patch; ... }
            MemorySegment numbers = MemorySegment.ofAddress(address).reinterpret(3L * Integer.BYTES);
            return numbers.getAtIndex(JAVA_INT, 0) + "." + numbers.getAtIndex(JAVA_INT, 1) + "."
                    + numbers.getAtIndex(JAVA_INT, 2);
        } catch (Throwable failure) {
            throw new IllegalStateException("oneDNN's version could not be read: " + failure, failure);
        }
    }
}
