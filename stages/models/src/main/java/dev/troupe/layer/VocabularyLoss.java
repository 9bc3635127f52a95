package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.TensorGroup;

/**
 * The cross-entropy over a sharded vocabulary, without a gather of logits (Shoeybi et al. 2019, section 3). The ranks
 * exchange three numbers a row: the largest log-sum-exp of the shards, the sum of exponentials, and the loss, which only the
 * rank with the target's logit can compute. A whole vocabulary is one shard, and needs no exchange.
 */
final class VocabularyLoss {
    private final Engine engine;
    private final TensorPool pool;
    private final TensorGroup group;

    VocabularyLoss(LayerContext context) {
        engine = context.engine();
        pool = context.pool();
        group = context.group();
    }

    /** Returns whether this rank has the logits of all tokens. */
    boolean isWhole() {
        return group.size() == 1;
    }

    /**
     * Replaces the results of {@link Engine#crossEntropy} for this rank's shard by those for the whole vocabulary. N is the
     * number of rows.
     *
     * @param targets [N], negative if not in this shard
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
        // The loss grows by the difference between the log-sum-exp of all shards and of this one.
        engine.joinShards(targets, highest, sums, rowLoss, logSumExp);
        group.allReduce(rowLoss);
        pool.give(highest);
        pool.give(sums);
    }
}
