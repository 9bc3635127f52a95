/**
 * Llama 2 and 3 (Touvron et al. 2023, Grattafiori et al. 2024), and what is published in their form.
 *
 * <p>Imports the JDK, {@code dev.troupe.model} and {@code dev.troupe.model.rotary}.
 */
package dev.troupe.model.llama;
