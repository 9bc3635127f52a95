package dev.troupe.cli;

import dev.troupe.engine.Engine;

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
            return invoke(engine, method, arguments);
        };
    }
}
