/**
 * What a stage computes: the layers of GPT-2, their assignment to stages, the stage itself, its optimizer, and sampling.
 * Straight-line code: no actor, thread or clock in it.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.model.spec}, {@code dev.troupe.parallel} and
 * {@code dev.troupe.weights}.
 */
package dev.troupe.model;
