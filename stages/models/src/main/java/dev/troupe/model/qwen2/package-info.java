/**
 * Qwen 2 and 2.5 (Yang et al. 2024).
 *
 * <p>Imports the JDK, {@code dev.troupe.model} and {@code dev.troupe.model.rotary}.
 */
package dev.troupe.model.qwen2;
