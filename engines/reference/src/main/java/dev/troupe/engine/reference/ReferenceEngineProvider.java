package dev.troupe.engine.reference;

import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Need;
import java.util.Optional;

/** The provider of {@link ReferenceEngine}s, on every machine and in every precision; the last choice of {@code auto}. */
public final class ReferenceEngineProvider implements EngineProvider {
    public ReferenceEngineProvider() {
    }

    @Override
    public String kind() {
        return ReferenceEngine.KIND;
    }

    @Override
    public int preference() {
        return 0;
    }

    @Override
    public String description() {
        return "plain Java loops in float64, single-threaded; exact and slow";
    }

    @Override
    public Optional<String> obstacle(Need need) {
        return Optional.empty();
    }

    @Override
    public Engine create(EngineSettings settings) {
        return new ReferenceKernels(settings);
    }
}
