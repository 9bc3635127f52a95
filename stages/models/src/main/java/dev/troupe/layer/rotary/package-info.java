/**
 * Halves of a block with rotary positions, heads that share keys and values, and gated units: the layers of Llama and the
 * families after it.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.layer}, {@code dev.troupe.layer.cache} and
 * {@code dev.troupe.model.spec}.
 */
package dev.troupe.layer.rotary;
