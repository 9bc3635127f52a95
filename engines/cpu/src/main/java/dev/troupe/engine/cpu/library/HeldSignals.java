package dev.troupe.engine.cpu.library;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The block of a thread's signals while native code has its stack pointer in other memory. For a signal's handler Linux
 * saves some kilobytes below that pointer, which would overwrite other data. Profilers such as the JDK's flight recorder
 * send signals to running threads. A blocked signal is delivered when the thread unblocks it.
 *
 * <p>Thread rule: any thread, for itself.
 */
final class HeldSignals {
    /** Signals that the thread itself causes and that cannot be blocked, by Linux's numbers. */
    private static final int[] OWN = {4, 5, 6, 7, 8, 11, 31}; // ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS
    private static final int BLOCK = 0;
    private static final int SET = 2;
    /** The size of a set of signals in the C libraries of Linux. */
    private static final int SET_BYTES = 128;

    private static final MethodHandle CHANGE = find();
    private static final MemorySegment OTHERS = others();
    /** The mask of each thread before the block. */
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

    /** Blocks signals until the returned memory is passed to {@link #release}. */
    static MemorySegment hold() {
        MemorySegment before = BEFORE.get();
        change(BLOCK, OTHERS.address(), before.address());
        return before;
    }

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
