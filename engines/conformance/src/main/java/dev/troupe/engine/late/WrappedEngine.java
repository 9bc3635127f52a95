package dev.troupe.engine.late;

import dev.troupe.engine.Engine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Engines for tests that change some calls of another engine. */
public final class WrappedEngine {
    private WrappedEngine() {
    }

    /** The calls of an engine, each answered by {@link #call} or in its place. */
    @FunctionalInterface
    public interface Around {
        /** Answers a call; what it throws, the caller gets. */
        Object call(Method method, Object[] arguments) throws Throwable;
    }

    /** Returns an engine whose calls all go to a wrapper. */
    public static Engine of(Around around) {
        return (Engine) Proxy.newProxyInstance(Engine.class.getClassLoader(), new Class<?>[]{Engine.class},
                (_, method, arguments) -> around.call(method, arguments));
    }

    /** Makes a call of an engine, and throws what it throws. */
    public static Object call(Engine engine, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(engine, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }
}
