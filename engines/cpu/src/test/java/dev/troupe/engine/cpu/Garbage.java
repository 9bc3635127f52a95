package dev.troupe.engine.cpu;

import com.sun.management.ThreadMXBean;
import dev.troupe.engine.Engine;
import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.TreeMap;

/** The garbage of kernels on the calling thread. */
final class Garbage {
    /** The least bytes of a kernel in a step that are reported. */
    private static final long WORTH_A_WORD = 512;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Garbage() {
    }

    /** Bytes of objects that a step allocates, as the mean of a number of steps. */
    static long ofSteps(int count, EveryKernel kernels) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < count; i++) {
            kernels.run();
            kernels.settle();
        }
        return (THREADS.getCurrentThreadAllocatedBytes() - before) / count;
    }

    /** Bytes of objects a step by the kernels that allocate most, with what a call through a proxy takes. */
    static Map<String, Long> ofKernels(Engine engine, EveryKernel kernels, int steps) {
        Map<String, Long> bytes = new TreeMap<>();
        Engine watched = (Engine) Proxy.newProxyInstance(Engine.class.getClassLoader(), new Class<?>[]{Engine.class},
                (_, method, arguments) -> {
                    long before = THREADS.getCurrentThreadAllocatedBytes();
                    try {
                        return method.invoke(engine, arguments);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    } finally {
                        bytes.merge(method.getName(), THREADS.getCurrentThreadAllocatedBytes() - before, Long::sum);
                    }
                });
        kernels.callThrough(watched);
        ofSteps(steps, kernels);
        bytes.replaceAll((_, all) -> all / steps);
        bytes.values().removeIf(each -> each < WORTH_A_WORD);
        return bytes;
    }
}
