/**
 * What a model is trained on: token sequences and the batches drawn from them.
 *
 * <p>Imports the JDK and {@code dev.troupe.tokenizer}.
 */
package dev.troupe.data;
