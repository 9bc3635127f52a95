package dev.troupe.engine.fallback;

import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.loop.CrossEntropy;
import dev.troupe.engine.fallback.loop.Embedding;

/** Definitions of the embedding and of the loss against targets. */
interface FallbackTokens extends Fallback {
    @Override
    default void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        fallBack(Kernel.EMBEDDING, host -> Embedding.forward(host.ids(tokens), host.read(tokenTable),
                host.readOrNull(positionTable), sequenceLength, host.output(y), y.shape().size(1)));
    }

    @Override
    default void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        fallBack(Kernel.EMBEDDING_BACKWARD, host -> Embedding.backward(host.ids(tokens), host.read(dy),
                sequenceLength, host.changed(dTokenTable), host.changedOrNull(dPositionTable), dy.shape().size(1)));
    }

    @Override
    default void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
        fallBack(Kernel.CROSS_ENTROPY, host -> CrossEntropy.forward(host.read(logits), host.ids(targets),
                host.output(rowLoss), host.output(rowLogSumExp), logits.shape().size(1)));
    }

    @Override
    default void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale,
            Tensor dLogits) {
        fallBack(Kernel.CROSS_ENTROPY_BACKWARD, host -> CrossEntropy.backward(host.read(logits), host.ids(targets),
                host.read(rowLogSumExp), scale, host.output(dLogits), logits.shape().size(1)));
    }

    @Override
    default void crossEntropyBoth(Tensor logits, Tensor targets, double scale, Tensor rowLoss, Tensor rowLogSumExp) {
        crossEntropy(logits, targets, rowLoss, rowLogSumExp);
        crossEntropyBackward(logits, targets, rowLogSumExp, scale, logits);
    }

    @Override
    default void shardSum(Tensor rowLogSumExp, Tensor highest, Tensor sums) {
        fallBack(Kernel.SHARD_SUM,
                host -> CrossEntropy.shardSum(host.read(rowLogSumExp), host.read(highest), host.output(sums)));
    }

    @Override
    default void joinShards(Tensor targets, Tensor highest, Tensor sums, Tensor rowLoss, Tensor rowLogSumExp) {
        fallBack(Kernel.JOIN_SHARDS, host -> CrossEntropy.joinShards(host.ids(targets), host.read(highest),
                host.read(sums), host.changed(rowLoss), host.changed(rowLogSumExp)));
    }
}
