package dev.troupe.engine.provider;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.check.CheckedEngine;
import java.util.List;
import java.util.Optional;

/**
 * The factory of engines of one kind. Found with {@link java.util.ServiceLoader}; an instance may be used from any thread.
 */
public interface EngineProvider {
    /** The value of {@code engine.kind} that picks this provider. */
    String kind();

    /** The rank of this engine for {@code auto}, which takes the usable engine with the highest preference. */
    int preference();

    /** One line for a person: library, version, instruction set or device. May load native code. */
    String description();

    /**
     * Why this engine cannot serve a need on this machine, and what to do, in one sentence; empty if it can. May load native
     * code.
     */
    Optional<String> obstacle(Need need);

    default boolean serves(Need need) {
        return obstacle(need).isEmpty();
    }

    /** Returns an obstacle if the parameters are not float32. */
    static Optional<String> unlessFloat32(String kind, EngineSettings settings) {
        return settings.parameterType() == DataType.FLOAT32
                ? Optional.empty()
                : Optional.of("the " + kind + " engine computes in FLOAT32, not in " + settings.parameterType()
                        + "; set training.precision = float32, or take the engine reference or nd4j");
    }

    /** Returns an obstacle if rows have to be exact, for an engine that does not keep that. */
    static Optional<String> unlessInexact(String kind, EngineSettings settings) {
        return settings.exactRows()
                ? Optional.of("the " + kind + " engine has no exact rows; set engine.exact-rows = false, or take the"
                        + " engine cpu or reference")
                : Optional.empty();
    }

    /**
     * A warning before a run with such settings, in one sentence, if they make it slower than they promise with right
     * results. Called only without an {@link #obstacle}.
     */
    default Optional<String> caution(EngineSettings settings) {
        return Optional.empty();
    }

    /**
     * A reason why this engine is slower than the machine allows, such as an environment variable, in one sentence; empty if
     * there is none. May load native code.
     */
    default Optional<String> limit() {
        return Optional.empty();
    }

    /** Whether its engines are on devices; {@link EngineSettings#device} then chooses one. */
    default boolean hasDevices() {
        return false;
    }

    /** The libraries of matrix products among which {@link EngineSettings#products} chooses; empty without a choice. */
    default Optional<ProductLibraries> productLibraries() {
        return Optional.empty();
    }

    /** The libraries that this engine looks for on the machine, for a person. May load native code. */
    default List<Finding> findings() {
        return List.of();
    }

    /**
     * Opens an engine for all stages of one rank, with checks of operands.
     *
     * @throws IllegalStateException with the sentence of {@link #obstacle}, if any
     */
    default CheckedEngine open(EngineSettings settings) {
        obstacle(settings).ifPresent(sentence -> {
            throw new IllegalStateException(sentence);
        });
        return new CheckedEngine(create(settings));
    }

    /** Creates an engine without checks of operands. {@link #open} is the only caller. */
    Engine create(EngineSettings settings);

    /** Returns the clock of one rank's work. Called once for each engine. */
    default WorkClock clock(EngineSettings settings) {
        return WorkClock.NONE;
    }
}
