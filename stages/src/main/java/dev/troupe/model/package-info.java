/**
 * What a stage computes: the layers of GPT-2, their assignment to stages, the stage itself, its optimizer, and sampling.
 * Straight-line code: no actor, thread or clock in it. It imports {@code dev.troupe.engine},
 * {@code dev.troupe.parallel}, and of {@code dev.troupe.weights} the source that parameters are read from.
 */
package dev.troupe.model;
