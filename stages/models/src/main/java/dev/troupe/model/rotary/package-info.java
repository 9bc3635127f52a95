/**
 * What Llama and the families after it have in common: numbers, layers under their published names, and how a {@code
 * config.json} says them.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.layer}, {@code dev.troupe.layer.rotary},
 * {@code dev.troupe.model}, {@code dev.troupe.model.spec}, {@code dev.troupe.weights} and
 * {@code com.fasterxml.jackson}.
 */
package dev.troupe.model.rotary;
