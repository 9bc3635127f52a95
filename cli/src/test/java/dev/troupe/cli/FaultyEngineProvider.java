package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.EngineProvider;
import dev.troupe.engine.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** The reference engine, of which one rank's breaks at one call of one kernel. */
public final class FaultyEngineProvider implements EngineProvider {
    static final String KIND = "faulty";

    private static volatile Fault fault = Fault.NONE;
    /** A run opens an engine to ask for sizes, and then those of its ranks in their order. */
    private static final AtomicInteger OPENED = new AtomicInteger();

    private final EngineProvider reference = new ReferenceEngineProvider();

    /** For {@link java.util.ServiceLoader}. */
    public FaultyEngineProvider() {
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
    public String kind() {
        return KIND;
    }

    @Override
    public int preference() {
        return Integer.MIN_VALUE;
    }

    @Override
    public String description() {
        return "an engine that breaks when it is told to";
    }

    @Override
    public Optional<String> obstacle(EngineSettings settings) {
        return Optional.empty();
    }

    @Override
    public Engine open(EngineSettings settings) {
        Engine sound = reference.open(settings);
        Fault planned = fault;
        if (OPENED.getAndIncrement() != planned.rank() + 1) {
            return sound;
        }
        AtomicInteger calls = new AtomicInteger();
        return (Engine) Proxy.newProxyInstance(Engine.class.getClassLoader(), new Class<?>[]{Engine.class},
                (_, method, arguments) -> {
                    if (method.getName().equals(planned.kernel()) && calls.incrementAndGet() == planned.call()) {
                        throw new IllegalStateException("the wire came loose");
                    }
                    try {
                        return method.invoke(sound, arguments);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                });
    }
}
