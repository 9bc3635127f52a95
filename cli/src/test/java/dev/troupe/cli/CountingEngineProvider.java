package dev.troupe.cli;

import dev.troupe.engine.Engine;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** The reference engine, which remembers the most that each of its engines had allocated. */
public final class CountingEngineProvider extends TestEngineProvider {
    static final String KIND = "counting";

    private static final List<AtomicLong> PEAKS = new CopyOnWriteArrayList<>();

    /** For {@link java.util.ServiceLoader}. */
    public CountingEngineProvider() {
        super(KIND);
    }

    /** The bytes of each engine opened since the last call, in the order of opening. */
    static List<Long> takePeaks() {
        List<Long> peaks = PEAKS.stream().map(AtomicLong::get).toList();
        PEAKS.clear();
        return peaks;
    }

    @Override
    Around around(Engine engine) {
        AtomicLong peak = new AtomicLong();
        PEAKS.add(peak);
        return (method, arguments) -> {
            Object result = invoke(engine, method, arguments);
            if (method.getName().equals("allocate")) {
                peak.accumulateAndGet(engine.allocatedBytes(), Math::max);
            }
            return result;
        };
    }
}
