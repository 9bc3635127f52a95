/**
 * Chat templates of Hugging Face models: messages into the text that a model was trained on.
 *
 * <p>Imports the JDK, {@code dev.troupe.chat.render}, {@code dev.troupe.chat.value}, {@code dev.troupe.tokenizer.file}
 * and {@code com.fasterxml.jackson}.
 */
package dev.troupe.chat;
