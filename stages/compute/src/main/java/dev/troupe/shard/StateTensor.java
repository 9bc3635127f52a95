package dev.troupe.shard;

import dev.troupe.engine.Tensor;
import dev.troupe.parallel.TensorSlice;

/**
 * A tensor of a stage's state under the name that files have for it. The tensor stays the stage's.
 *
 * @param name
 *            the published name, with {@code optimizer.exp_avg.} or {@code optimizer.exp_avg_sq.} before it for moments
 * @param tensor
 *            the live tensor, not a copy
 * @param slice
 *            what of the whole tensor this is
 * @param copy
 *            whether another rank has the same bits under the same name and is the one to write them: of a tied token
 *            table the stage of the embedding, of what a group of ranks does not share out its first rank
 */
public record StateTensor(String name, Tensor tensor, TensorSlice slice, boolean copy) {
}
