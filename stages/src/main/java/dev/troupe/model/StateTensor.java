package dev.troupe.model;

import dev.troupe.engine.Tensor;

/**
 * A tensor of a stage's state under the name that files have for it. The tensor stays the stage's.
 *
 * @param name
 *            the published name, with {@code optimizer.exp_avg.} or {@code optimizer.exp_avg_sq.} before it for moments
 * @param tensor
 *            the live tensor, not a copy
 * @param tiedCopy
 *            whether this belongs to the head end's copy of a tied token table, which the stage of the embedding has
 *            under the same name with the same bits; an export leaves it out
 */
public record StateTensor(String name, Tensor tensor, boolean tiedCopy) {
}
