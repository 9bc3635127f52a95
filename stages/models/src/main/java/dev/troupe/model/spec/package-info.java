/**
 * The words a model is declared in: axes, shapes, splits, initial values, costs.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine} and {@code dev.troupe.parallel}.
 */
package dev.troupe.model.spec;
