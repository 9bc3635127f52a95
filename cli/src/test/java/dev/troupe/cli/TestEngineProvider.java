package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Need;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;

/** The reference engine with something between the run and its kernels. */
abstract class TestEngineProvider implements EngineProvider {
    private final EngineProvider reference = new ReferenceEngineProvider();
    private final String kind;

    TestEngineProvider(String kind) {
        this.kind = kind;
    }

    /** A wrapper of the calls of one engine. */
    @FunctionalInterface
    interface Around {
        /** Makes a call, by {@link #invoke} or in its place. */
        Object call(Method method, Object[] arguments) throws Throwable;
    }

    /** Returns the wrapper of an engine that was just opened. */
    abstract Around around(Engine engine);

    static Object invoke(Engine engine, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(engine, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    @Override
    public String kind() {
        return kind;
    }

    @Override
    public int preference() {
        return Integer.MIN_VALUE;
    }

    @Override
    public String description() {
        return "an engine for tests";
    }

    @Override
    public Optional<String> obstacle(Need need) {
        return Optional.empty();
    }

    @Override
    public Engine create(EngineSettings settings) {
        Around around = around(reference.create(settings));
        return (Engine) Proxy.newProxyInstance(Engine.class.getClassLoader(), new Class<?>[]{Engine.class},
                (_, method, arguments) -> around.call(method, arguments));
    }
}
