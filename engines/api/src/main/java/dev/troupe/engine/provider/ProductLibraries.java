package dev.troupe.engine.provider;

import dev.troupe.engine.DataType;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The libraries among which an engine's matrix products can be divided. A choice is a text, which a configuration has and
 * {@link EngineSettings#products} takes; another choice computes other bits.
 */
public interface ProductLibraries {
    /**
     * Whether a choice is in the words of this engine, be the library here or not. Another engine's choice, which a
     * configuration or a checkpoint may have, is in none of them.
     */
    boolean knows(String choice);

    /** Why a choice cannot serve here, in one sentence that says what to do; empty where it can. May load native code. */
    Optional<String> obstacle(String choice, DataType computeType);

    /** Returns the choice of the engine's own library for all products. */
    String own();

    /**
     * Returns the choice by the table that was measured on this processor with these versions of the libraries; that of the
     * engine's own library where there is no such table.
     *
     * @param cache the folder of the table
     * @throws IllegalStateException with a sentence, where the table is damaged
     */
    String fastest(DataType computeType, Path cache);

    /**
     * Measures the table of this processor where there is none, and keeps it, where the engine has such a table.
     *
     * @return for a person in lines, which library computes what: the table with its date and file, or why there is none
     * @throws IllegalStateException with a sentence, where a table is damaged or cannot be kept
     */
    List<String> measured(Path cache);

    /** Returns a choice with the versions of its libraries, which nodes of a run must have in common. */
    String identity(String choice);
}
