package dev.troupe.pulse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Each method of an engine, called on one that is watched. */
class WatchedEngineTest {
    private final List<Method> called = new ArrayList<>();
    private final Pulse pulse = new Pulse();
    private final Engine watched = new WatchedEngine((Engine) Proxy.newProxyInstance(Engine.class.getClassLoader(),
            new Class<?>[]{Engine.class}, (_, method, _) -> {
                called.add(method);
                return method.getReturnType() == Optional.class ? Optional.empty() : zero(method.getReturnType());
            }), pulse);

    /** A default that were not handed on would be computed by the watcher. */
    @Test
    void shouldHandEveryCallOnAsItIs() throws ReflectiveOperationException {
        for (Method method : Engine.class.getMethods()) {
            call(method);
            assertEquals(List.of(method), called, "of one call");
            called.clear();
        }
    }

    @Test
    void shouldBeatWithEveryKernelThatWritesATensor() throws ReflectiveOperationException {
        for (Method method : Engine.class.getMethods()) {
            long before = pulse.beats();
            call(method);
            boolean isKernel = method.getReturnType() == void.class
                    && Arrays.asList(method.getParameterTypes()).contains(Tensor.class);
            assertTrue(!isKernel || pulse.beats() == before + 1, method + " does not beat");
        }
    }

    private void call(Method method) throws ReflectiveOperationException {
        try {
            method.invoke(watched, Arrays.stream(method.getParameterTypes()).map(WatchedEngineTest::zero).toArray());
        } catch (InvocationTargetException thrown) {
            throw new IllegalStateException(method + " threw", thrown.getCause());
        }
    }

    private static Object zero(Class<?> type) {
        if (type == boolean.class) {
            return false;
        }
        if (type == int.class) {
            return 0;
        }
        if (type == long.class) {
            return 0L;
        }
        return type == double.class ? (Object) 0.0 : null;
    }
}
