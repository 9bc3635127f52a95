/**
 * The speed of tokenizers.
 *
 * <p>Imports the JDK, {@code dev.troupe.bench}, {@code dev.troupe.tokenizer}, {@code com.fasterxml.jackson} and
 * {@code picocli}.
 */
package dev.troupe.bench.text;
