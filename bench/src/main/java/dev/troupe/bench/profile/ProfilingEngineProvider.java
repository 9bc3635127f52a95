package dev.troupe.bench.profile;

import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Need;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * Opens engines that compute on another engine and count what each call costs. The other one is the engine that the
 * system property {@value #INNER} names. Right for engines whose kernels are done when they return, as on a CPU.
 */
public final class ProfilingEngineProvider implements EngineProvider {
    /** The value of {@code engine.kind} for such engines. */
    public static final String KIND = "profiling";
    /** The system property that names the engine to measure. */
    public static final String INNER = "troupe.bench.profiled-engine";
    /** Lower than any engine's: {@code auto} never takes this one. */
    private static final int PREFERENCE = Integer.MIN_VALUE;
    // One for the process: the service loader makes a provider of its own for each run.
    private static final KernelTimes TIMES = new KernelTimes();

    /** For {@link ServiceLoader}. */
    public ProfilingEngineProvider() {
    }

    /** What the kernels of all engines of this kind have cost. */
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
    public Optional<String> obstacle(Need need) {
        return inner().map(provider -> provider.obstacle(need)).orElseGet(() -> Optional
                .of("the system property " + INNER + " must name an engine, but is " + System.getProperty(INNER)));
    }

    @Override
    public Engine create(EngineSettings settings) {
        return new MeasuredEngine(inner().orElseThrow().create(settings), TIMES);
    }

    private static Optional<EngineProvider> inner() {
        String wanted = System.getProperty(INNER);
        return ServiceLoader.load(EngineProvider.class).stream().map(ServiceLoader.Provider::get)
                .filter(provider -> !provider.kind().equals(KIND) && provider.kind().equals(wanted)).findFirst();
    }
}
