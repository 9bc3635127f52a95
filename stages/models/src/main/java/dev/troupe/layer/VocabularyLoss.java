package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.TensorGroup;

/**
 * The cross-entropy over a vocabulary in shards, without ever gathering logits (Shoeybi et al. 2019, section 3). The ranks
 * exchange three numbers a row: the largest of the shards' logarithms of sums of exponentials, the sum of exponentials over
 * the shards, and the loss, which the rank with the target's logit knows. A whole vocabulary is one shard, and needs no
 * exchange.
 */
final class VocabularyLoss {
    private final Engine engine;
    private final TensorPool pool;
    private final TensorGroup group;

    VocabularyLoss(LayerContext context) {
        engine = context.engine();
        pool = context.pool();
        group = context.share().group();
    }

    /** Returns whether this rank's logits are of all tokens. */
    boolean isWhole() {
        return group.size() == 1;
    }

    /**
     * Turns the results of {@link Engine#crossEntropy} for this rank's shard into those for all shards.
     *
     * @param targets in this shard, or elsewhere
     * @param rowLoss [N], changed
     * @param logSumExp [N], changed
     */
    void join(Tensor targets, Tensor rowLoss, Tensor logSumExp) {
        if (isWhole()) {
            return;
        }
        Tensor highest = pool.takeLike(rowLoss);
        Tensor sums = pool.takeLike(rowLoss);
        engine.copy(logSumExp, highest);
        group.allReduceMax(highest);
        engine.shardSum(logSumExp, highest, sums);
        group.allReduce(sums);
        // A shard's loss grows by the growth of the logarithm of the sum with all shards in it.
        engine.joinShards(targets, highest, sums, rowLoss, logSumExp);
        group.allReduce(rowLoss);
        pool.give(highest);
        pool.give(sums);
    }
}
