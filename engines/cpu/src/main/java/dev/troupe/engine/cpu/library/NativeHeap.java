package dev.troupe.engine.cpu.library;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * The heap of the C library, from which tensors are allocated. Freed memory stays with the process, in pieces that may be
 * too small for other tensors: 0.6 of 5 GiB after the warm-up of a model of 135 million parameters.
 */
public final class NativeHeap {
    /** A function of glibc; other libraries free memory in their own ways. */
    private static final Optional<MethodHandle> TRIM = find();

    private NativeHeap() {
    }

    @SuppressWarnings("restricted")
    private static Optional<MethodHandle> find() {
        Linker linker = Linker.nativeLinker();
        return linker.defaultLookup().find("malloc_trim").map(function -> linker.downcallHandle(function,
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG)));
    }

    /** Returns freed memory to the system, as far as the C library can. Any thread. */
    public static void trim() {
        TRIM.ifPresent(function -> {
            try {
                int _ = (int) function.invokeExact(0L);
            } catch (Throwable unexpected) {
                throw new IllegalStateException("malloc_trim of the C library failed", unexpected);
            }
        });
    }
}
