package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.late.WrappedEngine.Around;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** The reference engine, of which one rank's breaks at one call of one kernel. */
public final class FaultyEngineProvider extends WrappingEngineProvider {
    static final String KIND = "faulty";

    private static volatile Fault fault = Fault.NONE;
    /** A run opens an engine to ask for sizes, and then the engines of its ranks in their order. */
    private static final AtomicInteger OPENED = new AtomicInteger();

    /** For {@link java.util.ServiceLoader}. */
    public FaultyEngineProvider() {
        super(KIND);
    }

    private static final String WARM_UP = "warm-up-of-rank-";
    private static volatile String refused = "";

    static final String LOOSE = "the wire came loose";

    /** How often it broke. */
    private static final AtomicInteger BROKEN = new AtomicInteger();

    /**
     * @param again whether it also breaks after the rank was restarted
     * @param words its messages, one for each failure; the last for all later ones
     */
    private record Fault(int rank, String kernel, int call, boolean again, List<String> words) {
        static final Fault NONE = new Fault(-1, "", 0, false, List.of(LOOSE));
    }

    static void breakCall(int rank, String kernel, int call) {
        plan(new Fault(rank, kernel, call, false, List.of(LOOSE)));
    }

    /** Of the rank and of all that are opened after it. */
    static void breakCallOfEvery(int rank, String kernel, int call, String... words) {
        plan(new Fault(rank, kernel, call, true, List.of(words)));
    }

    private static void plan(Fault planned) {
        OPENED.set(0);
        BROKEN.set(0);
        fault = planned;
    }

    /** Whether the planned call came. */
    static boolean hasBroken() {
        return timesBroken() > 0;
    }

    static int timesBroken() {
        return BROKEN.get();
    }

    static void breakNothing() {
        fault = Fault.NONE;
        refused = "";
    }

    /** Has the warm-up of a rank find that a kernel cannot run here. */
    static void refuse(int rank, String kernel) {
        refused = WARM_UP + rank + ":" + kernel;
    }

    @Override
    Around around(Engine engine) {
        String thread = Thread.currentThread().getName();
        if (thread.startsWith(WARM_UP)) { // its calls do not count
            String mayNot = refused;
            return (method, arguments) -> {
                if (mayNot.equals(thread + ":" + method.getName())) {
                    throw new IllegalStateException("dnnl_matmul_primitive_desc_create failed with status 3");
                }
                return WrappedEngine.call(engine, method, arguments);
            };
        }
        Fault planned = fault;
        int number = OPENED.getAndIncrement() - 1;
        if (planned.again() ? number < planned.rank() : number != planned.rank()) {
            return (method, arguments) -> WrappedEngine.call(engine, method, arguments);
        }
        AtomicInteger calls = new AtomicInteger();
        return (method, arguments) -> {
            if (method.getName().equals(planned.kernel()) && calls.incrementAndGet() == planned.call()) {
                int times = BROKEN.incrementAndGet();
                throw new IllegalStateException(
                        planned.words().get(Math.min(times, planned.words().size()) - 1));
            }
            return WrappedEngine.call(engine, method, arguments);
        };
    }
}
