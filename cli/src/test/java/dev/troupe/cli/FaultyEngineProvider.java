package dev.troupe.cli;

import dev.troupe.engine.Engine;
import java.util.concurrent.atomic.AtomicInteger;

/** The reference engine, of which one rank's breaks at one call of one kernel. */
public final class FaultyEngineProvider extends TestEngineProvider {
    static final String KIND = "faulty";

    private static volatile Fault fault = Fault.NONE;
    /** A run opens an engine to ask for sizes, and then those of its ranks in their order. */
    private static final AtomicInteger OPENED = new AtomicInteger();

    /** For {@link java.util.ServiceLoader}. */
    public FaultyEngineProvider() {
        super(KIND);
    }

    private record Fault(int rank, String kernel, int call) {
        static final Fault NONE = new Fault(-1, "", 0);
    }

    static void breakCall(int rank, String kernel, int call) {
        OPENED.set(0);
        fault = new Fault(rank, kernel, call);
    }

    static void breakNothing() {
        fault = Fault.NONE;
    }

    @Override
    Around around(Engine engine) {
        Fault planned = fault;
        if (OPENED.getAndIncrement() != planned.rank() + 1) {
            return (method, arguments) -> invoke(engine, method, arguments);
        }
        AtomicInteger calls = new AtomicInteger();
        return (method, arguments) -> {
            if (method.getName().equals(planned.kernel()) && calls.incrementAndGet() == planned.call()) {
                throw new IllegalStateException("the wire came loose");
            }
            return invoke(engine, method, arguments);
        };
    }
}
