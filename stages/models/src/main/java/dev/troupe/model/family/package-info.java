/**
 * The list of families.
 *
 * <p>Imports the JDK, {@code dev.troupe.model} and {@code dev.troupe.model.gpt2}.
 */
package dev.troupe.model.family;
