package dev.troupe.engine.cpu.library;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * The process of {@link SignalsTest}: a thread multiplies while another sends it the signal with which the JVM suspends
 * threads. Prints how many products were other than the first.
 */
final class SignalledProducts {
    private static final int SUSPEND = 12; // SIGUSR2; the JVM ignores one that it did not ask for
    private static final int SIGNALS = 4_000;
    private static final int ROWS = 96;
    private static final int DEPTH = 256;

    private SignalledProducts() {
    }

    public static void main(String[] args) throws InterruptedException {
        int multiplying = gettid();
        Thread sender = Thread.ofPlatform().start(() -> send(multiplying));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment a = arena.allocate(JAVA_FLOAT, ROWS * DEPTH).fill((byte) 1);
            MemorySegment b = arena.allocate(JAVA_FLOAT, DEPTH * ROWS).fill((byte) 2);
            MemorySegment first = product(arena, a, b);
            int others = 0;
            while (sender.isAlive()) {
                try (Arena ofOne = Arena.ofConfined()) {
                    others += first.mismatch(product(ofOne, a, b)) < 0 ? 0 : 1;
                }
            }
            sender.join();
            System.out.println(others);
        }
    }

    private static MemorySegment product(Arena arena, MemorySegment a, MemorySegment b) {
        MemorySegment c = arena.allocate(JAVA_FLOAT, ROWS * ROWS);
        OneDnn.sgemm(false, false, ROWS, ROWS, DEPTH, 1, a.address(), DEPTH, b.address(), ROWS, 0, c.address(), ROWS);
        return c;
    }

    private static void send(int thread) {
        MethodHandle tgkill = function("tgkill", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
        int process = (int) ProcessHandle.current().pid();
        for (int i = 0; i < SIGNALS; i++) {
            try {
                int _ = (int) tgkill.invokeExact(process, thread, SUSPEND);
            } catch (Throwable failure) {
                throw new IllegalStateException(failure);
            }
            LockSupport.parkNanos(50_000);
        }
    }

    private static int gettid() {
        try {
            return (int) function("gettid", FunctionDescriptor.of(JAVA_INT)).invokeExact();
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
    }
}
