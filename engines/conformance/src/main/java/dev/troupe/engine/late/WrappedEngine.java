package dev.troupe.engine.late;

import dev.troupe.engine.Engine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Engines for tests, which change some calls of another engine. */
public final class WrappedEngine {
    private WrappedEngine() {
    }

    @FunctionalInterface
    public interface Around {
        /** Returns the result of a call; exceptions go to the caller. */
        Object call(Method method, Object[] arguments) throws Throwable;
    }

    /** Returns an engine with all calls implemented by a wrapper. */
    public static Engine of(Around around) {
        return (Engine) Proxy.newProxyInstance(Engine.class.getClassLoader(), new Class<?>[]{Engine.class},
                (_, method, arguments) -> around.call(method, arguments));
    }

    /** Calls an engine, and throws the engine's own exceptions. */
    public static Object call(Engine engine, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(engine, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }
}
