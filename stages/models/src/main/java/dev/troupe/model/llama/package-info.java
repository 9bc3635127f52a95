/**
 * Llama 2 and 3 (Touvron et al.
 *
 * <p>Imports the JDK, {@code dev.troupe.model} and {@code dev.troupe.model.rotary}.
 */
package dev.troupe.model.llama;
