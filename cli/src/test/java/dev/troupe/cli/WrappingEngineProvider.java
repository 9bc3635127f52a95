package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** The reference engine with something between the run and its kernels. */
abstract class WrappingEngineProvider extends TestEngineProvider {
    private final ReferenceEngineProvider reference = new ReferenceEngineProvider();

    WrappingEngineProvider(String kind) {
        super(kind);
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
    public Engine create(EngineSettings settings) {
        Around around = around(reference.create(settings));
        return (Engine) Proxy.newProxyInstance(Engine.class.getClassLoader(), new Class<?>[]{Engine.class},
                (_, method, arguments) -> around.call(method, arguments));
    }
}
