/**
 * GPT-2: its numbers, its layers and parameters as a declaration, and how it is published. No other package has its
 * names.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.layer}, {@code dev.troupe.layer.absolute},
 * {@code dev.troupe.model},
 * {@code dev.troupe.model.spec} and {@code com.fasterxml.jackson}.
 */
package dev.troupe.model.gpt2;
