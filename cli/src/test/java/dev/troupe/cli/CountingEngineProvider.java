package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.EngineProvider;
import dev.troupe.engine.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** The reference engine, which remembers the most that each of its engines had allocated. */
public final class CountingEngineProvider implements EngineProvider {
    static final String KIND = "counting";

    private static final List<AtomicLong> PEAKS = new CopyOnWriteArrayList<>();

    private final EngineProvider reference = new ReferenceEngineProvider();

    /** For {@link java.util.ServiceLoader}. */
    public CountingEngineProvider() {
    }

    /** The bytes of each engine opened since the last call, in the order of opening. */
    static List<Long> takePeaks() {
        List<Long> peaks = PEAKS.stream().map(AtomicLong::get).toList();
        PEAKS.clear();
        return peaks;
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public int preference() {
        return Integer.MIN_VALUE;
    }

    @Override
    public String description() {
        return "an engine that counts";
    }

    @Override
    public Optional<String> obstacle(EngineSettings settings) {
        return Optional.empty();
    }

    @Override
    public Engine open(EngineSettings settings) {
        Engine engine = reference.open(settings);
        AtomicLong peak = new AtomicLong();
        PEAKS.add(peak);
        return (Engine) Proxy.newProxyInstance(Engine.class.getClassLoader(), new Class<?>[]{Engine.class},
                (_, method, arguments) -> {
                    try {
                        Object result = method.invoke(engine, arguments);
                        if (method.getName().equals("allocate")) {
                            peak.accumulateAndGet(engine.allocatedBytes(), Math::max);
                        }
                        return result;
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                });
    }
}
