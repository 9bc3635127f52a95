/**
 * Models as files of GGUF, the format of llama.cpp, under the names that a family declares.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.model}, {@code dev.troupe.model.spec},
 * {@code dev.troupe.tokenizer}, {@code dev.troupe.tokenizer.file} and {@code dev.troupe.weights}.
 */
package dev.troupe.weights.gguf;
