package dev.troupe.engine.forward;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;

/**
 * An engine that hands every call to another one, with a hook before and after each call that takes time: the base of
 * engines that watch or measure another. Every method of the contract is here, the defaults too: a default that were not
 * handed on would run another kernel than the engine's own.
 */
public abstract class ForwardingEngine extends ForwardingMemory {
    /** Over another engine, which is closed with this one. */
    protected ForwardingEngine(Engine engine) {
        super(engine);
    }

    @Override
    public void fill(Tensor tensor, double value) {
        long begun = begins(Kernel.FILL);
        engine.fill(tensor, value);
        ends(Kernel.FILL, begun);
    }

    @Override
    public void copy(Tensor source, Tensor target) {
        long begun = begins(Kernel.COPY);
        engine.copy(source, target);
        ends(Kernel.COPY, begun);
    }

    @Override
    public void cast(Tensor source, Tensor target) {
        long begun = begins(Kernel.CAST);
        engine.cast(source, target);
        ends(Kernel.CAST, begun);
    }

    @Override
    public void add(Tensor left, Tensor right, Tensor sum) {
        long begun = begins(Kernel.ADD);
        engine.add(left, right, sum);
        ends(Kernel.ADD, begun);
    }

    @Override
    public void scale(Tensor tensor, double factor) {
        long begun = begins(Kernel.SCALE);
        engine.scale(tensor, factor);
        ends(Kernel.SCALE, begun);
    }

    @Override
    public void sum(Tensor tensor, Tensor sums, int index) {
        long begun = begins(Kernel.SUM);
        engine.sum(tensor, sums, index);
        ends(Kernel.SUM, begun);
    }

    @Override
    public void squaredSum(Tensor tensor, Tensor sums, int index) {
        long begun = begins(Kernel.SQUARED_SUM);
        engine.squaredSum(tensor, sums, index);
        ends(Kernel.SQUARED_SUM, begun);
    }

    @Override
    public void digest(Tensor tensor, Tensor digests, int index) {
        long begun = begins(Kernel.DIGEST);
        engine.digest(tensor, digests, index);
        ends(Kernel.DIGEST, begun);
    }

    @Override
    public void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        long begun = begins(Kernel.MATMUL);
        engine.matmul(left, transposeLeft, right, transposeRight, product, accumulate);
        ends(Kernel.MATMUL, begun);
    }

    @Override
    public void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y) {
        long begun = begins(Kernel.LINEAR);
        engine.linear(x, weight, transposeWeight, bias, y);
        ends(Kernel.LINEAR, begun);
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        long begun = begins(Kernel.LINEAR_GELU);
        engine.linearGelu(x, weight, bias, preActivation, y);
        ends(Kernel.LINEAR_GELU, begun);
    }

    @Override
    public void gelu(Tensor preActivation, Tensor y) {
        long begun = begins(Kernel.GELU);
        engine.gelu(preActivation, y);
        ends(Kernel.GELU, begun);
    }

    @Override
    public void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        long begun = begins(Kernel.GELU_BACKWARD);
        engine.geluBackward(preActivation, dy, dx);
        ends(Kernel.GELU_BACKWARD, begun);
    }

    @Override
    public void swiGlu(Tensor gate, Tensor up, Tensor y) {
        long begun = begins(Kernel.SWI_GLU);
        engine.swiGlu(gate, up, y);
        ends(Kernel.SWI_GLU, begun);
    }

    @Override
    public void swiGluBackward(Tensor gate, Tensor up, Tensor dy, Tensor dGate, Tensor dUp) {
        long begun = begins(Kernel.SWI_GLU_BACKWARD);
        engine.swiGluBackward(gate, up, dy, dGate, dUp);
        ends(Kernel.SWI_GLU_BACKWARD, begun);
    }

    @Override
    public void biasBackward(Tensor dy, Tensor dBias) {
        long begun = begins(Kernel.BIAS_BACKWARD);
        engine.biasBackward(dy, dBias);
        ends(Kernel.BIAS_BACKWARD, begun);
    }

    @Override
    public void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y, Tensor mean,
            Tensor reciprocalDeviation) {
        long begun = begins(Kernel.LAYER_NORM);
        engine.layerNorm(residual, x, gamma, beta, epsilon, y, mean, reciprocalDeviation);
        ends(Kernel.LAYER_NORM, begun);
    }

    @Override
    public void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
        long begun = begins(Kernel.LAYER_NORM_BACKWARD_INPUT);
        engine.layerNormBackwardInput(dy, x, gamma, mean, reciprocalDeviation, dx, accumulate);
        ends(Kernel.LAYER_NORM_BACKWARD_INPUT, begun);
    }

    @Override
    public void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
        long begun = begins(Kernel.LAYER_NORM_BACKWARD_WEIGHT);
        engine.layerNormBackwardWeight(dy, x, mean, reciprocalDeviation, dGamma, dBeta);
        ends(Kernel.LAYER_NORM_BACKWARD_WEIGHT, begun);
    }

    @Override
    public void layerNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate, Tensor dGamma, Tensor dBeta) {
        long begun = begins(Kernel.LAYER_NORM_BACKWARD);
        engine.layerNormBackward(dy, x, gamma, mean, reciprocalDeviation, dx, accumulate, dGamma, dBeta);
        ends(Kernel.LAYER_NORM_BACKWARD, begun);
    }

    @Override
    public void rmsNorm(Tensor residual, Tensor x, Tensor gamma, double epsilon, Tensor y, Tensor reciprocalRoot) {
        long begun = begins(Kernel.RMS_NORM);
        engine.rmsNorm(residual, x, gamma, epsilon, y, reciprocalRoot);
        ends(Kernel.RMS_NORM, begun);
    }

    @Override
    public void rmsNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate) {
        long begun = begins(Kernel.RMS_NORM_BACKWARD_INPUT);
        engine.rmsNormBackwardInput(dy, x, gamma, reciprocalRoot, dx, accumulate);
        ends(Kernel.RMS_NORM_BACKWARD_INPUT, begun);
    }

    @Override
    public void rmsNormBackwardWeight(Tensor dy, Tensor x, Tensor reciprocalRoot, Tensor dGamma) {
        long begun = begins(Kernel.RMS_NORM_BACKWARD_WEIGHT);
        engine.rmsNormBackwardWeight(dy, x, reciprocalRoot, dGamma);
        ends(Kernel.RMS_NORM_BACKWARD_WEIGHT, begun);
    }

    @Override
    public void rmsNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate, Tensor dGamma) {
        long begun = begins(Kernel.RMS_NORM_BACKWARD);
        engine.rmsNormBackward(dy, x, gamma, reciprocalRoot, dx, accumulate, dGamma);
        ends(Kernel.RMS_NORM_BACKWARD, begun);
    }

    @Override
    public void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        long begun = begins(Kernel.EMBEDDING);
        engine.embedding(tokens, tokenTable, positionTable, sequenceLength, y);
        ends(Kernel.EMBEDDING, begun);
    }

    @Override
    public void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        long begun = begins(Kernel.EMBEDDING_BACKWARD);
        engine.embeddingBackward(tokens, dy, sequenceLength, dTokenTable, dPositionTable);
        ends(Kernel.EMBEDDING_BACKWARD, begun);
    }

    @Override
    public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return engine.attentionStateShape(microbatchSize, sequenceLength, heads);
    }

    @Override
    public void causalAttention(Tensor qkv, int sequenceLength, int heads, Tensor state, Tensor y) {
        long begun = begins(Kernel.CAUSAL_ATTENTION);
        engine.causalAttention(qkv, sequenceLength, heads, state, y);
        ends(Kernel.CAUSAL_ATTENTION, begun);
    }

    @Override
    public void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y) {
        long begun = begins(Kernel.CAUSAL_ATTENTION);
        engine.causalAttention(qkv, sequenceLength, heads, dropout, state, y);
        ends(Kernel.CAUSAL_ATTENTION, begun);
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Tensor dQkv) {
        long begun = begins(Kernel.CAUSAL_ATTENTION_BACKWARD);
        engine.causalAttentionBackward(dy, qkv, y, state, sequenceLength, heads, dQkv);
        ends(Kernel.CAUSAL_ATTENTION_BACKWARD, begun);
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        long begun = begins(Kernel.CAUSAL_ATTENTION_BACKWARD);
        engine.causalAttentionBackward(dy, qkv, y, state, sequenceLength, heads, dropout, dQkv);
        ends(Kernel.CAUSAL_ATTENTION_BACKWARD, begun);
    }

    @Override
    public void groupedAttention(Tensor queries, Tensor keys, Tensor values, Tensor starts, int sequenceLength,
            int heads, int keyValueHeads, Dropout dropout, Tensor state, Tensor y) {
        long begun = begins(Kernel.GROUPED_ATTENTION);
        engine.groupedAttention(queries, keys, values, starts, sequenceLength, heads, keyValueHeads, dropout, state, y);
        ends(Kernel.GROUPED_ATTENTION, begun);
    }

    @Override
    public void groupedAttentionBackward(Tensor dy, Tensor queries, Tensor keys, Tensor values, Tensor starts, Tensor y,
            Tensor state, int sequenceLength, int heads, int keyValueHeads, Dropout dropout, Tensor dQueries,
            Tensor dKeys, Tensor dValues) {
        long begun = begins(Kernel.GROUPED_ATTENTION_BACKWARD);
        engine.groupedAttentionBackward(dy, queries, keys, values, starts, y, state, sequenceLength, heads,
                keyValueHeads, dropout, dQueries, dKeys, dValues);
        ends(Kernel.GROUPED_ATTENTION_BACKWARD, begun);
    }

    @Override
    public void cachedAttention(Tensor query, Tensor keys, Tensor values, int length, int heads, int keyValueHeads,
            Tensor y) {
        long begun = begins(Kernel.CACHED_ATTENTION);
        engine.cachedAttention(query, keys, values, length, heads, keyValueHeads, y);
        ends(Kernel.CACHED_ATTENTION, begun);
    }

    @Override
    public void rotary(Tensor x, Tensor starts, int sequenceLength, Tensor cosines, Tensor sines, boolean back,
            Tensor y) {
        long begun = begins(Kernel.ROTARY);
        engine.rotary(x, starts, sequenceLength, cosines, sines, back, y);
        ends(Kernel.ROTARY, begun);
    }

    @Override
    public void dropout(Tensor x, Dropout dropout, Tensor y) {
        long begun = begins(Kernel.DROPOUT);
        engine.dropout(x, dropout, y);
        ends(Kernel.DROPOUT, begun);
    }

    @Override
    public void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
        long begun = begins(Kernel.CROSS_ENTROPY);
        engine.crossEntropy(logits, targets, rowLoss, rowLogSumExp);
        ends(Kernel.CROSS_ENTROPY, begun);
    }

    @Override
    public void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits) {
        long begun = begins(Kernel.CROSS_ENTROPY_BACKWARD);
        engine.crossEntropyBackward(logits, targets, rowLogSumExp, scale, dLogits);
        ends(Kernel.CROSS_ENTROPY_BACKWARD, begun);
    }

    @Override
    public void crossEntropyBoth(Tensor logits, Tensor targets, double scale, Tensor rowLoss, Tensor rowLogSumExp) {
        long begun = begins(Kernel.CROSS_ENTROPY_BOTH);
        engine.crossEntropyBoth(logits, targets, scale, rowLoss, rowLogSumExp);
        ends(Kernel.CROSS_ENTROPY_BOTH, begun);
    }

    @Override
    public void shardSum(Tensor rowLogSumExp, Tensor highest, Tensor sums) {
        long begun = begins(Kernel.SHARD_SUM);
        engine.shardSum(rowLogSumExp, highest, sums);
        ends(Kernel.SHARD_SUM, begun);
    }

    @Override
    public void joinShards(Tensor targets, Tensor highest, Tensor sums, Tensor rowLoss, Tensor rowLogSumExp) {
        long begun = begins(Kernel.JOIN_SHARDS);
        engine.joinShards(targets, highest, sums, rowLoss, rowLogSumExp);
        ends(Kernel.JOIN_SHARDS, begun);
    }

    @Override
    public void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update) {
        long begun = begins(Kernel.ADAM_W);
        engine.adamW(weights, gradients, firstMoment, secondMoment, update);
        ends(Kernel.ADAM_W, begun);
    }

    @Override
    public void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update,
            Tensor operands) {
        long begun = begins(Kernel.ADAM_W);
        engine.adamW(weights, gradients, firstMoment, secondMoment, update, operands);
        ends(Kernel.ADAM_W, begun);
    }

    @Override
    public void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale) {
        long begun = begins(Kernel.SGD);
        engine.sgd(weights, gradients, learningRate, weightDecay, gradientScale);
        ends(Kernel.SGD, begun);
    }

    @Override
    public void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale,
            Tensor operands) {
        long begun = begins(Kernel.SGD);
        engine.sgd(weights, gradients, learningRate, weightDecay, gradientScale, operands);
        ends(Kernel.SGD, begun);
    }

    @Override
    public void sgdMomentum(Tensor weights, Tensor gradients, Tensor velocity, Momentum update) {
        long begun = begins(Kernel.SGD_MOMENTUM);
        engine.sgdMomentum(weights, gradients, velocity, update);
        ends(Kernel.SGD_MOMENTUM, begun);
    }

    @Override
    public void sgdMomentum(Tensor weights, Tensor gradients, Tensor velocity, Momentum update, Tensor operands) {
        long begun = begins(Kernel.SGD_MOMENTUM);
        engine.sgdMomentum(weights, gradients, velocity, update, operands);
        ends(Kernel.SGD_MOMENTUM, begun);
    }
}
