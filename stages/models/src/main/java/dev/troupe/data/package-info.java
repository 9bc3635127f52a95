/**
 * What a model is trained on: tokenizers, token sequences and the batches drawn from them.
 *
 * <p>Imports the JDK and {@code com.knuddels.jtokkit}.
 */
package dev.troupe.data;
