/**
 * Weights outside of an engine: names, initial values, safetensors files and Hugging Face directories, and whole tensors
 * from the slices of several ranks.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.model.spec}, {@code dev.troupe.parallel} and
 * {@code com.fasterxml.jackson}.
 */
package dev.troupe.weights;
