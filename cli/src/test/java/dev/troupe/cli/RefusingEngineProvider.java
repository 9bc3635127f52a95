package dev.troupe.cli;

import dev.troupe.engine.Engine;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.late.WrappedEngine.Around;

/** The reference engine on a machine that cannot run one of its kernels. */
public final class RefusingEngineProvider extends WrappingEngineProvider {
    static final String KIND = "refusing";

    /** For {@link java.util.ServiceLoader}. */
    public RefusingEngineProvider() {
        super(KIND);
    }

    @Override
    Around around(Engine engine) {
        return (method, arguments) -> {
            if (method.getName().equals("adamW")) {
                throw new IllegalStateException("no unit for it");
            }
            return WrappedEngine.call(engine, method, arguments);
        };
    }
}
