/**
 * The JSON files of tokenizers, and what is wrong with them.
 *
 * <p>Imports the JDK and {@code com.fasterxml.jackson}.
 */
package dev.troupe.tokenizer.file;
