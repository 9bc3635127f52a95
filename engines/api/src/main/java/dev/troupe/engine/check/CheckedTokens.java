package dev.troupe.engine.check;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;

/** The checks of the operands of embeddings and losses. */
abstract class CheckedTokens extends CheckedNorms {
    CheckedTokens(Engine engine) {
        super(engine);
    }

    @Override
    public final void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        Operands check = of(Kernel.EMBEDDING);
        CheckedTensor out = check.matrix("y", y);
        check.sequences(out, sequenceLength);
        CheckedTensor rows = check.ids("tokens", tokens, out.size(0));
        CheckedTensor table = check.table("tokenTable", tokenTable, 1, out.size(1));
        check.apart("y", out, table);
        CheckedTensor positions = positionTable == null
                ? null
                : check.table("positionTable", positionTable, sequenceLength, out.size(1));
        if (positions != null) {
            check.apart("y", out, positions);
        }
        ids.requireBelow(table.size(0), Kernel.EMBEDDING, "tokens", rows);
        long begun = hook.begins(Kernel.EMBEDDING);
        engine.embedding(rows.own(), table.own(), positions == null ? null : positions.own(), sequenceLength,
                out.own());
        hook.ended(Kernel.EMBEDDING, begun, out);
    }

    @Override
    public final void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        Operands check = of(Kernel.EMBEDDING_BACKWARD);
        CheckedTensor dOut = check.matrix("dy", dy);
        check.sequences(dOut, sequenceLength);
        CheckedTensor rows = check.ids("tokens", tokens, dOut.size(0));
        CheckedTensor table = check.table("dTokenTable", dTokenTable, 1, dOut.size(1));
        check.apart("dTokenTable", table, dOut);
        CheckedTensor positions = dPositionTable == null
                ? null
                : check.table("dPositionTable", dPositionTable, sequenceLength, dOut.size(1));
        if (positions != null) {
            check.apart("dPositionTable", positions, dOut, table);
        }
        ids.requireBelow(table.size(0), Kernel.EMBEDDING_BACKWARD, "tokens", rows);
        long begun = hook.begins(Kernel.EMBEDDING_BACKWARD);
        engine.embeddingBackward(rows.own(), dOut.own(), sequenceLength, table.own(),
                positions == null ? null : positions.own());
        hook.ended(Kernel.EMBEDDING_BACKWARD, begun, table);
    }

    @Override
    public final void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
        checkLosses(Kernel.CROSS_ENTROPY, logits, targets, rowLoss, rowLogSumExp);
        long begun = hook.begins(Kernel.CROSS_ENTROPY);
        engine.crossEntropy(own(logits).own(), own(targets).own(), own(rowLoss).own(), own(rowLogSumExp).own());
        hook.ended(Kernel.CROSS_ENTROPY, begun, rowLoss);
    }

    @Override
    public final void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale,
            Tensor dLogits) {
        Operands check = of(Kernel.CROSS_ENTROPY_BACKWARD);
        CheckedTensor in = check.matrix("logits", logits);
        CheckedTensor rows = check.ids("targets", targets, in.size(0));
        CheckedTensor logSum = check.vector("rowLogSumExp", rowLogSumExp, in.size(0));
        CheckedTensor dIn = check.like("dLogits", dLogits, in);
        check.apart("dLogits", dIn, logSum);
        ids.requireTargets(in.size(1), Kernel.CROSS_ENTROPY_BACKWARD, "targets", rows);
        long begun = hook.begins(Kernel.CROSS_ENTROPY_BACKWARD);
        engine.crossEntropyBackward(in.own(), rows.own(), logSum.own(), scale, dIn.own());
        hook.ended(Kernel.CROSS_ENTROPY_BACKWARD, begun, dIn);
    }

    @Override
    public final void crossEntropyBoth(Tensor logits, Tensor targets, double scale, Tensor rowLoss,
            Tensor rowLogSumExp) {
        checkLosses(Kernel.CROSS_ENTROPY_BOTH, logits, targets, rowLoss, rowLogSumExp);
        long begun = hook.begins(Kernel.CROSS_ENTROPY_BOTH);
        engine.crossEntropyBoth(own(logits).own(), own(targets).own(), scale, own(rowLoss).own(),
                own(rowLogSumExp).own());
        hook.ended(Kernel.CROSS_ENTROPY_BOTH, begun, rowLoss);
    }

    private void checkLosses(Kernel kernel, Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
        Operands check = of(kernel);
        CheckedTensor in = check.matrix("logits", logits);
        CheckedTensor rows = check.ids("targets", targets, in.size(0));
        CheckedTensor loss = check.vector("rowLoss", rowLoss, in.size(0));
        CheckedTensor logSum = check.vector("rowLogSumExp", rowLogSumExp, in.size(0));
        check.apart("rowLoss", loss, in, logSum);
        check.apart("rowLogSumExp", logSum, in);
        ids.requireTargets(in.size(1), kernel, "targets", rows);
    }

    @Override
    public final void shardSum(Tensor rowLogSumExp, Tensor highest, Tensor sums) {
        Operands check = of(Kernel.SHARD_SUM);
        CheckedTensor logSum = check.vector("rowLogSumExp", rowLogSumExp);
        CheckedTensor most = check.like("highest", highest, logSum);
        CheckedTensor out = check.like("sums", sums, logSum);
        check.apart("sums", out, logSum, most);
        long begun = hook.begins(Kernel.SHARD_SUM);
        engine.shardSum(logSum.own(), most.own(), out.own());
        hook.ended(Kernel.SHARD_SUM, begun, out);
    }

    @Override
    public final void joinShards(Tensor targets, Tensor highest, Tensor sums, Tensor rowLoss, Tensor rowLogSumExp) {
        Operands check = of(Kernel.JOIN_SHARDS);
        CheckedTensor logSum = check.vector("rowLogSumExp", rowLogSumExp);
        CheckedTensor rows = check.ids("targets", targets, logSum.size(0));
        CheckedTensor most = check.like("highest", highest, logSum);
        CheckedTensor added = check.like("sums", sums, logSum);
        CheckedTensor loss = check.like("rowLoss", rowLoss, logSum);
        check.apart("rowLoss", loss, most, added, logSum);
        check.apart("rowLogSumExp", logSum, most, added);
        long begun = hook.begins(Kernel.JOIN_SHARDS);
        engine.joinShards(rows.own(), most.own(), added.own(), loss.own(), logSum.own());
        hook.ended(Kernel.JOIN_SHARDS, begun, loss);
    }
}
