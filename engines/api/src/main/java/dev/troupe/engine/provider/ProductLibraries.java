package dev.troupe.engine.provider;

import dev.troupe.engine.DataType;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The libraries that can compute an engine's matrix products. The choice is a text in the configuration and in
 * {@link EngineSettings#products}; each choice computes its own bits.
 */
public interface ProductLibraries {
    /**
     * Whether a choice belongs to this engine, installed or not. A configuration or checkpoint may have another engine's
     * choice.
     */
    boolean knows(String choice);

    /** Why a choice cannot be used here, and what to do, in one sentence; empty if it can. May load native code. */
    Optional<String> obstacle(String choice, DataType computeType);

    /** Returns the choice of the engine's own library for all products. */
    String own();

    /**
     * Returns the fastest choice by a table measured on this processor with these library versions; without such a table,
     * the engine's own library.
     *
     * @param cache the folder of the table
     * @throws IllegalStateException with a sentence, if the table is damaged
     */
    String fastest(DataType computeType, Path cache);

    /**
     * Measures and saves the table of this processor, if the engine uses a table and has none yet.
     *
     * @return lines for a person: the library of each form of product, with date and file of the table, or why there is none
     * @throws IllegalStateException with a sentence, if a table is damaged or cannot be saved
     */
    List<String> measured(Path cache);

    /** Returns a choice with the versions of its libraries, which must be the same on all nodes of a run. */
    String identity(String choice);
}
