/**
 * The list of families.
 *
 * <p>Imports the JDK, {@code dev.troupe.model}, {@code dev.troupe.model.gpt2}, {@code dev.troupe.model.llama},
 * {@code dev.troupe.model.qwen2} and {@code dev.troupe.model.qwen3}.
 */
package dev.troupe.model.family;
