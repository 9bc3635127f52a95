/**
 * The data that a model is trained on: texts and files of tokens, the tokens of a text in a cache, and the split into
 * training and validation data.
 *
 * <p>Imports the JDK and {@code dev.troupe.tokenizer}.
 */
package dev.troupe.data;
