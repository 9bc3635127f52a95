package dev.troupe.engine.provider;

import dev.troupe.engine.DataType;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The libraries that can compute an engine's matrix products. A choice is a text, the value of {@code engine.products} and
 * {@link EngineSettings#products}. Results of different choices can differ in their last bits.
 */
public interface ProductLibraries {
    /**
     * Returns whether a choice is one of this engine, installed or not. A configuration or checkpoint may name a choice of
     * another engine.
     */
    boolean knows(String choice);

    /**
     * Returns one sentence on why a choice cannot be used here and what to do; empty if it can be used. May load native
     * code.
     */
    Optional<String> obstacle(String choice, DataType computeType);

    /** Returns the choice that computes all products with the engine's own library. */
    String own();

    /**
     * Returns the fastest choice by a table measured on this processor with these library versions; without such a table,
     * the engine's own library.
     *
     * @throws IllegalStateException with a sentence, if the table is damaged
     */
    String fastest(DataType computeType, Path cache);

    /**
     * Measures and saves the table of this processor, if the engine uses a table and has none yet.
     *
     * @return lines for a person: the library for each form of product, and the date and file of the table; or the reason if
     *     there is no table
     * @throws IllegalStateException with a sentence, if a table is damaged or cannot be saved
     */
    List<String> measured(Path cache);

    /** Returns a choice with the versions of its libraries, which must be the same on all nodes of a run. */
    String identity(String choice);
}
