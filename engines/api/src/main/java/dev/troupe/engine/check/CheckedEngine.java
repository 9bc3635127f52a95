package dev.troupe.engine.check;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;

/**
 * The checks in front of every engine: they hold a caller to the contract of {@link Engine}, with one set of sentences,
 * before the engine writes anything.
 *
 * <p>Thread rule: that of {@link Engine}; tensors may also be allocated and closed on any thread.
 */
public class CheckedEngine extends CheckedNorms {
    /** A checked engine over another, which this one alone calls from now on, and closes. */
    public CheckedEngine(Engine engine) {
        super(engine);
    }

    @Override
    public final void fill(Tensor tensor, double value) {
        engine.fill(of(Kernel.FILL).floats("tensor", tensor).own(), value);
    }

    @Override
    public final void copy(Tensor source, Tensor target) {
        Operands check = of(Kernel.COPY);
        CheckedTensor from = check.any("source", source);
        CheckedTensor to = check.like("target", target, from);
        to.noteIds(from);
        engine.copy(from.own(), to.own());
    }

    @Override
    public final void cast(Tensor source, Tensor target) {
        Operands check = of(Kernel.CAST);
        CheckedTensor from = check.either("source", source);
        engine.cast(from.own(), check.ofShape("target", target, from).own());
    }

    @Override
    public final void add(Tensor left, Tensor right, Tensor sum) {
        Operands check = of(Kernel.ADD);
        CheckedTensor a = check.either("left", left);
        CheckedTensor b = check.like("right", right, a);
        engine.add(a.own(), b.own(), check.like("sum", sum, a).own());
    }

    @Override
    public final void scale(Tensor tensor, double factor) {
        engine.scale(of(Kernel.SCALE).floats("tensor", tensor).own(), factor);
    }

    @Override
    public final void sum(Tensor tensor, Tensor sums, int index) {
        Operands check = of(Kernel.SUM);
        CheckedTensor own = check.floats("tensor", tensor);
        engine.sum(own.own(), check.sums(sums, index, own).own(), index);
    }

    @Override
    public final void squaredSum(Tensor tensor, Tensor sums, int index) {
        Operands check = of(Kernel.SQUARED_SUM);
        CheckedTensor own = check.floats("tensor", tensor);
        engine.squaredSum(own.own(), check.sums(sums, index, own).own(), index);
    }

    @Override
    public final void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        Operands check = of(Kernel.MATMUL);
        CheckedTensor a = check.matrix("left", left);
        int k = a.size(transposeLeft ? 0 : 1);
        CheckedTensor b = check.matrix("right", right);
        if (b.size(transposeRight ? 1 : 0) != k) {
            throw check.misfit("right", "must have " + k + (transposeRight ? " columns" : " rows"), b);
        }
        CheckedTensor out = check.product(product, accumulate, a.size(transposeLeft ? 1 : 0),
                b.size(transposeRight ? 0 : 1));
        check.apart("product", out, a, b);
        engine.matmul(a.own(), transposeLeft, b.own(), transposeRight, out.own(), accumulate);
    }

    @Override
    public final void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y) {
        Operands check = of(Kernel.LINEAR);
        CheckedTensor in = check.matrix("x", x);
        CheckedTensor w = check.weight(weight, transposeWeight, in);
        int outputs = w.size(transposeWeight ? 0 : 1);
        CheckedTensor b = check.vector("bias", bias, outputs);
        CheckedTensor out = check.matrix("y", y, in.size(0), outputs);
        check.apart("y", out, in, w, b);
        engine.linear(in.own(), w.own(), transposeWeight, b.own(), out.own());
    }

    @Override
    public final void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        Operands check = of(Kernel.LINEAR_GELU);
        CheckedTensor in = check.matrix("x", x);
        CheckedTensor w = check.weight(weight, false, in);
        CheckedTensor b = check.vector("bias", bias, w.size(1));
        CheckedTensor pre = check.matrix("preActivation", preActivation, in.size(0), w.size(1));
        CheckedTensor out = check.like("y", y, pre);
        check.apart("preActivation", pre, in, w, b);
        check.apart("y", out, in, w, b);
        check.apart("y", out, pre);
        engine.linearGelu(in.own(), w.own(), b.own(), pre.own(), out.own());
    }

    @Override
    public final void gelu(Tensor preActivation, Tensor y) {
        Operands check = of(Kernel.GELU);
        CheckedTensor pre = check.matrix("preActivation", preActivation);
        engine.gelu(pre.own(), check.like("y", y, pre).own());
    }

    @Override
    public final void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        Operands check = of(Kernel.GELU_BACKWARD);
        CheckedTensor pre = check.products("preActivation", preActivation);
        CheckedTensor dOut = check.like("dy", dy, pre);
        CheckedTensor dIn = check.like("dx", dx, pre);
        check.apart("dx", dIn, pre);
        engine.geluBackward(pre.own(), dOut.own(), dIn.own());
    }

    @Override
    public final void swiGlu(Tensor gate, Tensor up, Tensor y) {
        Operands check = of(Kernel.SWI_GLU);
        CheckedTensor in = check.matrix("gate", gate);
        CheckedTensor factor = check.like("up", up, in);
        CheckedTensor out = check.like("y", y, in);
        check.apart("y", out, in, factor);
        engine.swiGlu(in.own(), factor.own(), out.own());
    }

    @Override
    public final void swiGluBackward(Tensor gate, Tensor up, Tensor dy, Tensor dGate, Tensor dUp) {
        Operands check = of(Kernel.SWI_GLU_BACKWARD);
        CheckedTensor in = check.matrix("gate", gate);
        CheckedTensor factor = check.like("up", up, in);
        CheckedTensor dOut = check.like("dy", dy, in);
        CheckedTensor dIn = check.like("dGate", dGate, in);
        CheckedTensor dFactor = check.like("dUp", dUp, in);
        check.apart("dGate", dIn, factor, dOut, dFactor);
        check.apart("dUp", dFactor, in);
        engine.swiGluBackward(in.own(), factor.own(), dOut.own(), dIn.own(), dFactor.own());
    }

    @Override
    public final void biasBackward(Tensor dy, Tensor dBias) {
        Operands check = of(Kernel.BIAS_BACKWARD);
        CheckedTensor dOut = check.matrix("dy", dy);
        engine.biasBackward(dOut.own(), check.vector("dBias", dBias, dOut.size(1)).own());
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
        engine.embedding(rows.own(), table.own(), positions == null ? null : positions.own(), sequenceLength,
                out.own());
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
        engine.embeddingBackward(rows.own(), dOut.own(), sequenceLength, table.own(),
                positions == null ? null : positions.own());
    }

    @Override
    public final void dropout(Tensor x, Dropout dropout, Tensor y) {
        Operands check = of(Kernel.DROPOUT);
        CheckedTensor in = check.matrix("x", x);
        engine.dropout(in.own(), dropout, check.like("y", y, in).own());
    }

    @Override
    public final void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
        checkLosses(Kernel.CROSS_ENTROPY, logits, targets, rowLoss, rowLogSumExp);
        engine.crossEntropy(own(logits).own(), own(targets).own(), own(rowLoss).own(), own(rowLogSumExp).own());
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
        engine.crossEntropyBackward(in.own(), rows.own(), logSum.own(), scale, dIn.own());
    }

    @Override
    public final void crossEntropyBoth(Tensor logits, Tensor targets, double scale, Tensor rowLoss,
            Tensor rowLogSumExp) {
        checkLosses(Kernel.CROSS_ENTROPY_BOTH, logits, targets, rowLoss, rowLogSumExp);
        engine.crossEntropyBoth(own(logits).own(), own(targets).own(), scale, own(rowLoss).own(),
                own(rowLogSumExp).own());
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
        engine.shardSum(logSum.own(), most.own(), out.own());
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
        engine.joinShards(rows.own(), most.own(), added.own(), loss.own(), logSum.own());
    }

    @Override
    public final void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update,
            Tensor operands) {
        Operands check = of(Kernel.ADAM_W);
        CheckedTensor w = check.floats("weights", weights);
        CheckedTensor g = check.like("gradients", gradients, w);
        CheckedTensor first = check.like("firstMoment", firstMoment, w);
        CheckedTensor second = check.like("secondMoment", secondMoment, w);
        check.apart("weights", w, g, first, second);
        check.apart("firstMoment", first, g, second);
        check.apart("secondMoment", second, g);
        CheckedTensor rounded = operands(check, operands, w, g, first, second);
        engine.adamW(w.own(), g.own(), first.own(), second.own(), update, rounded == null ? null : rounded.own());
    }

    @Override
    public final void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay,
            double gradientScale, Tensor operands) {
        Operands check = of(Kernel.SGD);
        CheckedTensor w = check.floats("weights", weights);
        CheckedTensor g = check.like("gradients", gradients, w);
        check.apart("weights", w, g);
        CheckedTensor rounded = operands(check, operands, w, g);
        engine.sgd(w.own(), g.own(), learningRate, weightDecay, gradientScale, rounded == null ? null : rounded.own());
    }

    @Override
    public final void sgdMomentum(Tensor weights, Tensor gradients, Tensor velocity, Momentum update, Tensor operands) {
        Operands check = of(Kernel.SGD_MOMENTUM);
        CheckedTensor w = check.floats("weights", weights);
        CheckedTensor g = check.like("gradients", gradients, w);
        CheckedTensor v = check.like("velocity", velocity, w);
        check.apart("weights", w, g, v);
        check.apart("velocity", v, g);
        CheckedTensor rounded = operands(check, operands, w, g, v);
        engine.sgdMomentum(w.own(), g.own(), v.own(), update, rounded == null ? null : rounded.own());
    }

    /** What an update leaves to products; null where that is nothing. */
    private static CheckedTensor operands(Operands check, Tensor operands, CheckedTensor weights,
            CheckedTensor... others) {
        if (operands == null) {
            return null;
        }
        CheckedTensor own = check.productsLike("operands", operands, weights);
        check.apart("operands", own, weights);
        for (CheckedTensor other : others) {
            check.apart("operands", own, other);
        }
        return own;
    }
}
