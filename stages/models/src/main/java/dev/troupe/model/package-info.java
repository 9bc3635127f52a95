/**
 * What a model is before any rank has it: a list of layers with their parameters, the families that make such lists, and
 * initial weights.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.layer}, {@code dev.troupe.model.spec},
 * {@code dev.troupe.tokenizer.file}, {@code dev.troupe.weights} and {@code com.fasterxml.jackson}.
 */
package dev.troupe.model;
