package dev.troupe.engine.provider;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.check.CheckedEngine;
import java.util.List;
import java.util.Optional;

/** Opens engines of one kind. Found with {@link java.util.ServiceLoader}; an instance may be used from any thread. */
public interface EngineProvider {
    /** The value of {@code engine.kind} that picks this provider. */
    String kind();

    /** Among the usable engines {@code auto} takes the one with the highest preference. */
    int preference();

    /** One line for a person: library, version, instruction set or device. May load native code. */
    String description();

    /**
     * Why this engine cannot serve a need, on this machine, in one sentence that says what to do; empty when it can. May
     * load native code.
     */
    Optional<String> obstacle(Need need);

    /** Whether there is no {@link #obstacle}. */
    default boolean serves(Need need) {
        return obstacle(need).isEmpty();
    }

    /** Returns the refusal, by an engine that computes in float32 alone, of settings with other parameters. */
    static Optional<String> unlessFloat32(String kind, EngineSettings settings) {
        return settings.parameterType() == DataType.FLOAT32
                ? Optional.empty()
                : Optional.of("the " + kind + " engine computes in FLOAT32, not in " + settings.parameterType()
                        + "; set training.precision = float32, or take the engine reference or nd4j");
    }

    /**
     * What a user should know before a run with such settings, in one sentence: it will be right, but slower than the
     * settings promise. Asked only where there is no {@link #obstacle}.
     */
    default Optional<String> caution(EngineSettings settings) {
        return Optional.empty();
    }

    /**
     * What holds this engine below what the machine could do, such as a variable of the environment, in one sentence; empty
     * where nothing does. May load native code.
     */
    default Optional<String> limit() {
        return Optional.empty();
    }

    /** Whether its engines are on devices, among which {@link EngineSettings#device} chooses. */
    default boolean hasDevices() {
        return false;
    }

    /** The libraries of matrix products that {@link EngineSettings#products} chooses among, where there is a choice. */
    default Optional<ProductLibraries> productLibraries() {
        return Optional.empty();
    }

    /** The libraries that this engine looks for on the machine, for a person. May load native code. */
    default List<Finding> findings() {
        return List.of();
    }

    /**
     * Opens an engine for one rank, whose stages all compute on it, with the checks of operands in front of it.
     *
     * @throws IllegalStateException with the sentence of {@link #obstacle} where there is one
     */
    default CheckedEngine open(EngineSettings settings) {
        obstacle(settings).ifPresent(sentence -> {
            throw new IllegalStateException(sentence);
        });
        return new CheckedEngine(create(settings));
    }

    /** Creates an engine without checks of operands. {@link #open} is the only caller. */
    Engine create(EngineSettings settings);

    /** Returns the clock of one rank's works beside its engine. A rank asks once for each engine that it opens. */
    default WorkClock clock(EngineSettings settings) {
        return WorkClock.NONE;
    }
}
