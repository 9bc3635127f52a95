/**
 * Directories in Hugging Face layout, in and out, under the names that a family publishes.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.model}, {@code dev.troupe.model.family},
 * {@code dev.troupe.model.spec}, {@code dev.troupe.tokenizer.file}, {@code dev.troupe.weights} and
 * {@code com.fasterxml.jackson}.
 */
package dev.troupe.weights.huggingface;
