package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.late.WrappedEngine.Around;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngineProvider;

/** The reference engine with a wrapper between the run and its kernels. */
abstract class WrappingEngineProvider extends TestEngineProvider {
    private final ReferenceEngineProvider reference = new ReferenceEngineProvider();

    WrappingEngineProvider(String kind) {
        super(kind);
    }

    /** Returns the wrapper of an engine that was just opened. */
    abstract Around around(Engine engine);

    @Override
    public Engine create(EngineSettings settings) {
        return WrappedEngine.of(around(reference.create(settings)));
    }
}
