package dev.troupe.engine.emulated;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * The timer slack of the calling thread (prctl(2), PR_SET_TIMERSLACK): by default Linux may end sleeps 50 microseconds
 * late, to bundle wake-ups.
 */
final class TimerSlack {
    private static final int PR_SET_TIMERSLACK = 29;
    private static final long LEAST_NANOS = 1;
    private static final Optional<MethodHandle> PRCTL = findPrctl();

    private TimerSlack() {
    }

    /** Makes the sleeps of the calling thread exact, if the system can. */
    static void makeLeast() {
        PRCTL.ifPresent(prctl -> {
            try {
                int ignored = (int) prctl.invokeExact(PR_SET_TIMERSLACK, LEAST_NANOS, 0L, 0L, 0L);
            } catch (Throwable failure) {
                throw new IllegalStateException("prctl was found but cannot be called", failure);
            }
        });
    }

    @SuppressWarnings("restricted") // native access is enabled by the launcher
    private static Optional<MethodHandle> findPrctl() {
        if (!System.getProperty("os.name").equals("Linux")) {
            return Optional.empty();
        }
        Linker linker = Linker.nativeLinker();
        SymbolLookup symbols = linker.defaultLookup();
        return symbols.find("prctl")
                .map(address -> linker.downcallHandle(address,
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
                        Linker.Option.firstVariadicArg(1)));
    }
}
