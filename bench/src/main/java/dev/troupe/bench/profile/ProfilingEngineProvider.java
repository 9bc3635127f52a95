package dev.troupe.bench.profile;

import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * Opens engines that compute on another engine and add up the cost of each call. The system property {@value #INNER}
 * names the other engine. The figures are right for engines whose kernels are done when they return, as on a CPU.
 */
public final class ProfilingEngineProvider implements EngineProvider {
    /** The value of {@code engine.kind} for such engines. */
    public static final String KIND = "profiling";
    /** The system property that names the engine to measure. */
    public static final String INNER = "troupe.bench.profiled-engine";
    /** A priority lower than any engine's, so that {@code auto} never takes this one. */
    private static final int PREFERENCE = Integer.MIN_VALUE;
    // One sum for the process, since the service loader makes a new provider for each run.
    private static final KernelTimes TIMES = new KernelTimes();

    /** For {@link ServiceLoader}. */
    public ProfilingEngineProvider() {
    }

    /** Returns the cost of the kernels of all engines of this kind. */
    public static KernelTimes times() {
        return TIMES;
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public int preference() {
        return PREFERENCE;
    }

    @Override
    public String description() {
        return "measures the kernels of another engine";
    }

    @Override
    public Optional<String> obstacle(EngineSettings settings) {
        return inner().map(provider -> provider.obstacle(settings)).orElseGet(() -> Optional
                .of("the system property " + INNER + " must name an engine, but is " + System.getProperty(INNER)));
    }

    @Override
    public Engine open(EngineSettings settings) {
        EngineProvider provider = inner()
                .orElseThrow(() -> new IllegalStateException(obstacle(settings).orElseThrow()));
        return measured(provider.open(settings), TIMES);
    }

    /** An engine that computes on another one and adds each call to {@code times}. */
    static Engine measured(Engine engine, KernelTimes times) {
        // A proxy measures every kernel of the contract, also one that is added later.
        InvocationHandler handler = (_, method, arguments) -> {
            KernelEvent event = new KernelEvent();
            event.begin();
            long start = System.nanoTime();
            try {
                return method.invoke(engine, arguments);
            } catch (InvocationTargetException failure) {
                throw failure.getCause();
            } finally {
                times.add(method.getName(), System.nanoTime() - start,
                        MatrixOperations.of(method.getName(), arguments));
                event.kernel = method.getName();
                event.commit();
            }
        };
        return (Engine) Proxy.newProxyInstance(Engine.class.getClassLoader(), new Class<?>[]{Engine.class}, handler);
    }

    private static Optional<EngineProvider> inner() {
        String wanted = System.getProperty(INNER);
        return ServiceLoader.load(EngineProvider.class).stream().map(ServiceLoader.Provider::get)
                .filter(provider -> !provider.kind().equals(KIND) && provider.kind().equals(wanted)).findFirst();
    }
}
