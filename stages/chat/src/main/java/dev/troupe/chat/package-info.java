/**
 * Chat templates of Hugging Face models: messages into the text that a model was trained on.
 *
 * <p>Imports the JDK, {@code dev.troupe.tokenizer.file}, {@code com.fasterxml.jackson}, {@code com.hubspot.jinjava} and
 * {@code jinjava}.
 */
package dev.troupe.chat;
