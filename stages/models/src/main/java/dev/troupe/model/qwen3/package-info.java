/**
 * Qwen 3 (Yang et al. 2025).
 *
 * <p>Imports the JDK, {@code dev.troupe.model} and {@code dev.troupe.model.rotary}.
 */
package dev.troupe.model.qwen3;
