package dev.troupe.engine.fallback;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.loop.CausalAttention;
import dev.troupe.engine.fallback.loop.CausalAttention.Heads;
import dev.troupe.engine.fallback.loop.Rotary;

/** Definitions of attention and of rotary positions. */
interface FallbackAttention extends Fallback {
    /** The probabilities, [B x H x T x T]. */
    @Override
    default Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return Shape.of(microbatchSize, heads, sequenceLength, sequenceLength);
    }

    @Override
    default void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y) {
        fallBack(Kernel.CAUSAL_ATTENTION, host -> packed(host, qkv, sequenceLength, heads).forward(dropout,
                host.output(state), host.output(y)));
    }

    @Override
    default void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        fallBack(Kernel.CAUSAL_ATTENTION_BACKWARD, host -> {
            double[] gradients = host.output(dQkv);
            packed(host, qkv, sequenceLength, heads).backward(host.read(dy), host.read(state), dropout, gradients,
                    gradients, gradients);
        });
    }

    private static CausalAttention packed(HostOperands host, Tensor qkv, int t, int heads) {
        int c = qkv.shape().size(1) / 3;
        double[] elements = host.read(qkv);
        return new CausalAttention(qkv.shape().size(0) / t, t, heads, c / heads, new Heads(elements, 3 * c, 0, 1),
                new Heads(elements, 3 * c, c, 1), new Heads(elements, 3 * c, 2 * c, 1), null);
    }

    @Override
    default void groupedAttention(Tensor queries, Tensor keys, Tensor values, Tensor starts, int sequenceLength,
            int heads, int keyValueHeads, Dropout dropout, Tensor state, Tensor y) {
        fallBack(Kernel.GROUPED_ATTENTION,
                host -> grouped(host, queries, keys, values, starts, sequenceLength, heads, keyValueHeads)
                        .forward(dropout, host.output(state), host.output(y)));
    }

    @Override
    default void groupedAttentionBackward(Tensor dy, Tensor queries, Tensor keys, Tensor values, Tensor starts,
            Tensor y, Tensor state, int sequenceLength, int heads, int keyValueHeads, Dropout dropout,
            Tensor dQueries, Tensor dKeys, Tensor dValues) {
        fallBack(Kernel.GROUPED_ATTENTION_BACKWARD,
                host -> grouped(host, queries, keys, values, starts, sequenceLength, heads, keyValueHeads).backward(
                        host.read(dy), host.read(state), dropout, host.output(dQueries), host.output(dKeys),
                        host.output(dValues)));
    }

    @Override
    default void cachedAttention(Tensor queries, Tensor keys, Tensor values, int length, int heads, int keyValueHeads,
            Tensor y) {
        fallBack(Kernel.CACHED_ATTENTION,
                host -> grouped(host, queries, keys, values, null, length, heads, keyValueHeads)
                        .last(y.shape().size(0), host.output(y)));
    }

    private static CausalAttention grouped(HostOperands host, Tensor queries, Tensor keys, Tensor values,
            Tensor starts, int t, int heads, int keyValueHeads) {
        int queryColumns = queries.shape().size(1);
        int keyColumns = keys.shape().size(1);
        int sharing = heads / keyValueHeads;
        return new CausalAttention(queries.shape().size(0) / t, t, heads, queryColumns / heads,
                new Heads(host.read(queries), queryColumns, 0, 1), new Heads(host.read(keys), keyColumns, 0, sharing),
                new Heads(host.read(values), keyColumns, 0, sharing), host.idsOrNull(starts));
    }

    @Override
    default void rotary(Tensor x, Tensor starts, int sequenceLength, Tensor cosines, Tensor sines, int headSize,
            boolean back, Tensor y) {
        fallBack(Kernel.ROTARY,
                host -> Rotary.turn(host.read(x), x.shape().size(1), host.idsOrNull(starts), sequenceLength,
                        host.read(cosines), host.read(sines), cosines.shape().size(1), headSize, back, host.output(y)));
    }
}
