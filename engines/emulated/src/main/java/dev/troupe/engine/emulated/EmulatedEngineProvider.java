package dev.troupe.engine.emulated;

import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.Capability;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Need;
import dev.troupe.engine.provider.WorkClock;
import java.util.Optional;

/** The provider of engines that keep time instead of computing. */
public final class EmulatedEngineProvider implements EngineProvider {
    public static final String KIND = "emulated";

    @Override
    public String kind() {
        return KIND;
    }

    /** Below every engine that computes: {@code auto} takes it last. */
    @Override
    public int preference() {
        return Integer.MIN_VALUE;
    }

    @Override
    public String description() {
        return "emulated: no arithmetic, each action takes its configured time; losses mean nothing";
    }

    @Override
    public Optional<String> obstacle(Need need) {
        return switch (need) {
            case EngineSettings settings -> EngineProvider.unlessInexact(KIND, settings);
            case Capability.DROPOUT, Capability.ANY_THREADS -> Optional.empty();
            case Capability.VALUES -> Optional.of(
                    "the engine emulated keeps time and computes nothing: set engine.kind = cpu or reference");
        };
    }

    @Override
    public Engine create(EngineSettings settings) {
        return new EmulatedEngine(settings);
    }

    @Override
    public WorkClock clock(EngineSettings settings) {
        return new EmulatedClock(settings.costs());
    }
}
