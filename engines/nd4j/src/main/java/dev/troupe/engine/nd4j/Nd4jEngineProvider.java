package dev.troupe.engine.nd4j;

import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.Capability;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Need;
import java.util.Optional;

/** The provider of engines on ND4J. All engines that are open in a process have the same number of threads. */
public final class Nd4jEngineProvider implements EngineProvider {
    public static final String KIND = "nd4j";

    private static final int PREFERENCE = 10;

    public Nd4jEngineProvider() {
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
        return Nd4jLibrary.usesCuda() ? "ND4J 1.0.0-M2.1, CUDA 11.6 backend" : "ND4J 1.0.0-M2.1, CPU, OpenBLAS";
    }

    @Override
    public Optional<String> obstacle(Need need) {
        return switch (need) {
            case EngineSettings settings -> obstacle(settings);
            case Capability.VALUES -> Optional.empty();
            case Capability.DROPOUT -> Optional.of(
                    "the engine nd4j has no dropout: set engine.kind = cpu, or training.dropout = 0");
            case Capability.ANY_THREADS -> Optional.of("the engine nd4j may have other bits with another number of"
                    + " threads: set engine.threads, or engine.kind = cpu");
        };
    }

    private static Optional<String> obstacle(EngineSettings settings) {
        if (settings.mixesTypes()) {
            return Optional.of("the nd4j engine computes its products in " + settings.parameterType() + ", not in "
                    + settings.computeType()
                    + "; set training.precision = float32, or take the engine cpu or reference");
        }
        return EngineProvider.unlessInexact(KIND, settings).or(() -> Nd4jLibrary.obstacle(settings.threads()));
    }

    @Override
    public Engine create(EngineSettings settings) {
        Nd4jLibrary.engineOpens(settings.threads());
        return new Nd4jEngine(settings.parameterType(), settings.threads());
    }
}
