/**
 * Tokenizers: text into token ids and back.
 *
 * <p>Imports the JDK, {@code dev.troupe.tokenizer.file}, {@code dev.troupe.tokenizer.huggingface},
 * {@code com.fasterxml.jackson} and {@code com.knuddels.jtokkit}.
 */
package dev.troupe.tokenizer;
