package dev.troupe.config.spec;

import java.util.Objects;

/**
 * The engine of a run.
 *
 * @param kind
 *            name of an engine, or {@code auto}: the best that the machine can run
 * @param threads
 *            threads that compute for one rank; 0: the cores of the machine divided among the ranks on it
 * @param emulated
 *            the times of actions on the engine {@code emulated}
 */
public record EngineSpec(String kind, int threads, EmulatedSpec emulated) {

    /** The kind by which the runtime chooses the engine. */
    public static final String AUTO = "auto";

    /** Refuses a missing part. */
    public EngineSpec {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(emulated, "emulated");
    }
}
