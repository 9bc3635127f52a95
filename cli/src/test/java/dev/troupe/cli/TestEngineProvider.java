package dev.troupe.cli;

import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.Need;
import java.util.Optional;

/** A provider that a run takes only if a test asks for its kind. */
abstract class TestEngineProvider implements EngineProvider {
    private final String kind;

    TestEngineProvider(String kind) {
        this.kind = kind;
    }

    @Override
    public String kind() {
        return kind;
    }

    @Override
    public int preference() {
        return Integer.MIN_VALUE;
    }

    @Override
    public String description() {
        return "an engine for tests";
    }

    @Override
    public Optional<String> obstacle(Need need) {
        return Optional.empty();
    }
}
