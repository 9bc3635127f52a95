/**
 * Weights outside of an engine: named tensors, safetensors files, and whole tensors from the slices of several ranks. It
 * knows no model.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.parallel}, {@code dev.troupe.tokenizer.file} and
 * {@code com.fasterxml.jackson}.
 */
package dev.troupe.weights;
