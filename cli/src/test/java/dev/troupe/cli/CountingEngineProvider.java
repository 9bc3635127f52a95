package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.late.WrappedEngine.Around;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** The reference engine, which remembers the most that each of its engines had allocated. */
public final class CountingEngineProvider extends WrappingEngineProvider {
    static final String KIND = "counting";

    private static final List<AtomicLong> PEAKS = new CopyOnWriteArrayList<>();
    private static final List<AtomicLong> WARM_UP_PEAKS = new CopyOnWriteArrayList<>();

    /** For {@link java.util.ServiceLoader}. */
    public CountingEngineProvider() {
        super(KIND);
    }

    /** The bytes of each engine opened since the last call, in the order of opening, without the engines of the warm-up. */
    static List<Long> takePeaks() {
        return take(PEAKS);
    }

    /** The bytes of each engine that the warm-up has opened since the last call. */
    static List<Long> takeWarmUpPeaks() {
        return take(WARM_UP_PEAKS);
    }

    private static List<Long> take(List<AtomicLong> all) {
        List<Long> peaks = all.stream().map(AtomicLong::get).toList();
        all.clear();
        return peaks;
    }

    @Override
    Around around(Engine engine) {
        AtomicLong peak = new AtomicLong();
        (Thread.currentThread().getName().startsWith("warm-up") ? WARM_UP_PEAKS : PEAKS).add(peak);
        return (method, arguments) -> {
            Object result = WrappedEngine.call(engine, method, arguments);
            if (method.getName().equals("allocate")) {
                peak.accumulateAndGet(engine.allocatedBytes(), Math::max);
            }
            return result;
        };
    }
}
