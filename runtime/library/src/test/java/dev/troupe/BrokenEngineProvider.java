package dev.troupe;

import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.InstalledEngines;
import dev.troupe.engine.provider.Need;
import java.util.Optional;

/** An engine of a program with ranks that cannot begin, although its kernels could be tried before. */
public final class BrokenEngineProvider implements EngineProvider {
    static final String KIND = "broken";
    static final Error THROWN = new NoClassDefFoundError("com/example/Kernels");

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public int preference() {
        return -1;
    }

    @Override
    public String description() {
        return "an engine that breaks";
    }

    @Override
    public Optional<String> obstacle(Need need) {
        return Optional.empty();
    }

    @Override
    public Engine create(EngineSettings settings) {
        if (!Thread.currentThread().getName().contains("pekko")) { // the warm-up of a start, and its memory plan
            return InstalledEngines.find().stream().filter(engine -> engine.kind().equals("reference")).findFirst()
                    .orElseThrow().create(settings);
        }
        throw THROWN;
    }
}
