package dev.troupe.engine.cpu.library;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Holds back the signals of the calling thread while native code has its stack pointer elsewhere. Linux puts what it
 * saves for a signal's handler below that pointer: some kilobytes, with the vector registers. Where this is no stack, it
 * overwrites memory of others. Profilers send signals to running threads: the JDK's flight recorder does to sample them. A
 * signal that was held back comes when the thread lets it.
 *
 * <p>Thread rule: any thread, for itself.
 */
final class HeldSignals {
    /** Numbers of Linux: what the thread itself causes, which nothing can hold back. */
    private static final int[] OWN = {4, 5, 6, 7, 8, 11, 31}; // ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS
    private static final int BLOCK = 0;
    private static final int SET = 2;
    /** Of a set of signals in the C libraries of Linux. */
    private static final int SET_BYTES = 128;

    private static final MethodHandle CHANGE = find();
    private static final MemorySegment OTHERS = others();
    /** Of each thread, what it let through before. */
    private static final ThreadLocal<MemorySegment> BEFORE = ThreadLocal
            .withInitial(() -> Arena.ofAuto().allocate(SET_BYTES, Long.BYTES));

    private HeldSignals() {
    }

    @SuppressWarnings("restricted")
    private static MethodHandle find() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow("pthread_sigmask"),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG), Linker.Option.critical(false));
    }

    private static MemorySegment others() {
        MemorySegment set = Arena.global().allocate(SET_BYTES, Long.BYTES);
        long signals = -1L;
        for (int signal : OWN) {
            signals &= ~(1L << signal - 1);
        }
        set.set(JAVA_LONG, 0, signals);
        return set;
    }

    /** Holds them back until the memory that this returns is given to {@link #release}. */
    static MemorySegment hold() {
        MemorySegment before = BEFORE.get();
        change(BLOCK, OTHERS.address(), before.address());
        return before;
    }

    /** Lets through what the thread let through before. */
    static void release(MemorySegment before) {
        change(SET, before.address(), 0);
    }

    private static void change(int how, long set, long old) {
        try {
            int _ = (int) CHANGE.invokeExact(how, set, old);
        } catch (Throwable unexpected) {
            throw new IllegalStateException("pthread_sigmask of the C library failed", unexpected);
        }
    }
}
