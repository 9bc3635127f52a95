/**
 * Low-rank adapters of a model: read and written as PEFT does, beside its weights, and merged into them.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.model}, {@code dev.troupe.model.spec},
 * {@code dev.troupe.weights} and {@code com.fasterxml.jackson}.
 */
package dev.troupe.weights.peft;
