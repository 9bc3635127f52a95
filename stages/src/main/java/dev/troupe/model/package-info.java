/**
 * What a stage computes: the layers of GPT-2, their assignment to stages, the stage itself and its optimizer. Straight-line
 * code on top of {@code dev.troupe.engine}: no actor, thread or clock in it.
 */
package dev.troupe.model;
