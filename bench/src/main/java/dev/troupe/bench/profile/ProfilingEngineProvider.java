package dev.troupe.bench.profile;

import dev.troupe.engine.Engine;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.InstalledEngines;
import dev.troupe.engine.provider.Need;
import dev.troupe.engine.provider.ProductLibraries;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * The provider of engines that compute on another engine and add up the cost of each call. The system property {@value
 * #INNER} names the other engine. The figures are right only if a kernel returns after it has computed, as on a CPU.
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
    public Optional<String> obstacle(Need need) {
        return inner().map(provider -> provider.obstacle(need)).orElseGet(() -> Optional
                .of("the system property " + INNER + " must name an engine, but is " + System.getProperty(INNER)));
    }

    @Override
    public boolean hasDevices() {
        return inner().filter(EngineProvider::hasDevices).isPresent();
    }

    @Override
    public Optional<ProductLibraries> productLibraries() {
        return inner().flatMap(EngineProvider::productLibraries);
    }

    @Override
    public Engine create(EngineSettings settings) {
        CheckedEngine measured = inner().orElseThrow().open(settings);
        measured.observe(new MeasuringHook(TIMES));
        return measured;
    }

    private static Optional<EngineProvider> inner() {
        String wanted = System.getProperty(INNER);
        return InstalledEngines.find().stream()
                .filter(provider -> !provider.kind().equals(KIND) && provider.kind().equals(wanted)).findFirst();
    }
}
