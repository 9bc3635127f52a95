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

    private static volatile boolean hasBroken;

    /** @param again whether it also breaks where the rank was started again */
    private record Fault(int rank, String kernel, int call, boolean again) {
        static final Fault NONE = new Fault(-1, "", 0, false);
    }

    static void breakCall(int rank, String kernel, int call) {
        plan(new Fault(rank, kernel, call, false));
    }

    /** Of the rank and of all that are opened after it. */
    static void breakCallOfEvery(int rank, String kernel, int call) {
        plan(new Fault(rank, kernel, call, true));
    }

    private static void plan(Fault planned) {
        OPENED.set(0);
        hasBroken = false;
        fault = planned;
    }

    /** Whether the planned call came. */
    static boolean hasBroken() {
        return hasBroken;
    }

    static void breakNothing() {
        fault = Fault.NONE;
    }

    @Override
    Around around(Engine engine) {
        Fault planned = fault;
        int number = OPENED.getAndIncrement() - 1;
        if (planned.again() ? number < planned.rank() : number != planned.rank()) {
            return (method, arguments) -> invoke(engine, method, arguments);
        }
        AtomicInteger calls = new AtomicInteger();
        return (method, arguments) -> {
            if (method.getName().equals(planned.kernel()) && calls.incrementAndGet() == planned.call()) {
                hasBroken = true;
                throw new IllegalStateException("the wire came loose");
            }
            return invoke(engine, method, arguments);
        };
    }
}
