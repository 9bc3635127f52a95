package dev.troupe.pulse;

import dev.troupe.engine.Engine;
import dev.troupe.engine.forward.ForwardingEngine;
import dev.troupe.engine.Kernel;

/** An engine whose kernels and copies beat a {@link Pulse}. */
public final class WatchedEngine extends ForwardingEngine {
    private final Pulse pulse;

    /**
     * @param engine
     *            computes
     * @param pulse
     *            of the rank that it computes for
     */
    public WatchedEngine(Engine engine, Pulse pulse) {
        super(engine);
        this.pulse = pulse;
    }

    @Override
    protected long begins(Kernel kernel) {
        return pulse.kernelBegins();
    }

    @Override
    protected void ends(Kernel kernel, long begun) {
        pulse.kernelEnds(begun);
    }
}
