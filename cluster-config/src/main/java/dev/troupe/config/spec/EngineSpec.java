package dev.troupe.config.spec;

import java.util.Objects;

/**
 * What a run is computed on.
 *
 * @param kind
 *            name of an engine, or {@code auto}: the best that is there
 * @param threads
 *            threads that compute for one rank; 0: the cores of the machine shared out among the ranks on it
 * @param emulated
 *            how long work takes on the engine that computes nothing
 */
public record EngineSpec(String kind, int threads, EmulatedSpec emulated) {

    /** The kind that leaves the choice to the runtime. */
    public static final String AUTO = "auto";

    /** Refuses a missing part. */
    public EngineSpec {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(emulated, "emulated");
    }
}
