/**
 * Halves of a block of models with absolute positions, which the embedding adds: attention whose queries, keys and values
 * are one product, and an MLP with GELU, both between projections with biases; the layers of GPT-2.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.layer}, {@code dev.troupe.layer.cache} and
 * {@code dev.troupe.model.spec}.
 */
package dev.troupe.layer.absolute;
