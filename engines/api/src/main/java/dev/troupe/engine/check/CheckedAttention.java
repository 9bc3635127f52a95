package dev.troupe.engine.check;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;

/** The checks of the operands of attention. */
abstract class CheckedAttention extends CheckedMemory {
    final IdCheck ids;

    CheckedAttention(Engine engine) {
        super(engine);
        this.ids = new IdCheck(engine);
    }

    @Override
    public final Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return engine.attentionStateShape(microbatchSize, sequenceLength, heads);
    }

    @Override
    public final void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state,
            Tensor y) {
        Operands check = of(Kernel.CAUSAL_ATTENTION);
        CheckedTensor out = check.matrix("y", y);
        CheckedTensor kept = check.attentionState(state, out, sequenceLength, heads);
        CheckedTensor in = check.matrix("qkv", qkv, out.size(0), 3 * out.size(1));
        check.apart("state", kept, in, out);
        check.apart("y", out, in);
        long begun = hook.begins(Kernel.CAUSAL_ATTENTION);
        engine.causalAttention(in.own(), sequenceLength, heads, dropout, kept.own(), out.own());
        hook.ended(Kernel.CAUSAL_ATTENTION, begun, out);
    }

    @Override
    public final void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength,
            int heads, Dropout dropout, Tensor dQkv) {
        Operands check = of(Kernel.CAUSAL_ATTENTION_BACKWARD);
        CheckedTensor dOut = check.matrix("dy", dy);
        CheckedTensor kept = check.attentionState(state, dOut, sequenceLength, heads);
        CheckedTensor in = check.matrix("qkv", qkv, dOut.size(0), 3 * dOut.size(1));
        CheckedTensor out = check.like("y", y, dOut);
        CheckedTensor dIn = check.like("dQkv", dQkv, in);
        check.apart("dQkv", dIn, dOut, in);
        check.apart("dQkv", dIn, out, kept);
        long begun = hook.begins(Kernel.CAUSAL_ATTENTION_BACKWARD);
        engine.causalAttentionBackward(dOut.own(), in.own(), out.own(), kept.own(), sequenceLength, heads, dropout,
                dIn.own());
        hook.ended(Kernel.CAUSAL_ATTENTION_BACKWARD, begun, dIn);
    }

    @Override
    public final void groupedAttention(Tensor queries, Tensor keys, Tensor values, Tensor starts, int sequenceLength,
            int heads, int keyValueHeads, Dropout dropout, Tensor state, Tensor y) {
        Operands check = of(Kernel.GROUPED_ATTENTION);
        CheckedTensor out = check.matrix("y", y);
        CheckedTensor kept = check.attentionState(state, out, sequenceLength, heads);
        CheckedTensor q = check.like("queries", queries, out);
        CheckedTensor k = check.keys("keys", keys, out, heads, keyValueHeads);
        CheckedTensor v = check.like("values", values, k);
        CheckedTensor begins = starts(check, Kernel.GROUPED_ATTENTION, starts, out, sequenceLength);
        check.apart("state", kept, q, k, v);
        check.apart("y", out, q, k, v);
        long begun = hook.begins(Kernel.GROUPED_ATTENTION);
        engine.groupedAttention(q.own(), k.own(), v.own(), ownOrNull(begins), sequenceLength, heads, keyValueHeads,
                dropout, kept.own(), out.own());
        hook.ended(Kernel.GROUPED_ATTENTION, begun, out);
    }

    @Override
    public final void groupedAttentionBackward(Tensor dy, Tensor queries, Tensor keys, Tensor values, Tensor starts,
            Tensor y, Tensor state, int sequenceLength, int heads, int keyValueHeads, Dropout dropout, Tensor dQueries,
            Tensor dKeys, Tensor dValues) {
        Operands check = of(Kernel.GROUPED_ATTENTION_BACKWARD);
        CheckedTensor dOut = check.matrix("dy", dy);
        CheckedTensor kept = check.attentionState(state, dOut, sequenceLength, heads);
        CheckedTensor q = check.like("queries", queries, dOut);
        CheckedTensor k = check.keys("keys", keys, dOut, heads, keyValueHeads);
        CheckedTensor v = check.like("values", values, k);
        CheckedTensor out = check.like("y", y, dOut);
        CheckedTensor begins = starts(check, Kernel.GROUPED_ATTENTION_BACKWARD, starts, dOut, sequenceLength);
        CheckedTensor dQ = check.like("dQueries", dQueries, q);
        CheckedTensor dK = check.like("dKeys", dKeys, k);
        CheckedTensor dV = check.like("dValues", dValues, v);
        check.apart("dQueries", dQ, q, k, v);
        check.apart("dQueries", dQ, dOut, out, kept);
        check.apart("dKeys", dK, q, k, v);
        check.apart("dKeys", dK, dOut, out, kept);
        check.apart("dValues", dV, q, k, v);
        check.apart("dValues", dV, dOut, out, kept);
        check.apart("dQueries", dQ, dK, dV);
        check.apart("dKeys", dK, dV);
        long begun = hook.begins(Kernel.GROUPED_ATTENTION_BACKWARD);
        engine.groupedAttentionBackward(dOut.own(), q.own(), k.own(), v.own(), ownOrNull(begins), out.own(),
                kept.own(), sequenceLength, heads, keyValueHeads, dropout, dQ.own(), dK.own(), dV.own());
        hook.ended(Kernel.GROUPED_ATTENTION_BACKWARD, begun, dQ);
    }

    @Override
    public final void cachedAttention(Tensor queries, Tensor keys, Tensor values, int length, int heads,
            int keyValueHeads, Tensor y) {
        Operands check = of(Kernel.CACHED_ATTENTION);
        CheckedTensor out = check.matrix("y", y);
        check.requireHeads(out, heads);
        CheckedTensor q = check.like("queries", queries, out);
        CheckedTensor k = check.cachedKeys("keys", keys, length, out, heads, keyValueHeads);
        CheckedTensor v = check.like("values", values, k);
        check.apart("y", out, q, k, v);
        long begun = hook.begins(Kernel.CACHED_ATTENTION);
        engine.cachedAttention(q.own(), k.own(), v.own(), length, heads, keyValueHeads, out.own());
        hook.ended(Kernel.CACHED_ATTENTION, begun, out);
    }

    @Override
    public final void rotary(Tensor x, Tensor starts, int sequenceLength, Tensor cosines, Tensor sines, int headSize,
            boolean back, Tensor y) {
        Operands check = of(Kernel.ROTARY);
        CheckedTensor in = check.matrix("x", x);
        check.sequences(in, sequenceLength);
        CheckedTensor cos = check.angles("cosines", cosines, sequenceLength, in, headSize);
        CheckedTensor sin = check.like("sines", sines, cos);
        CheckedTensor begins = starts(check, Kernel.ROTARY, starts, in, sequenceLength);
        CheckedTensor out = check.like("y", y, in);
        check.apart("y", out, cos, sin);
        long begun = hook.begins(Kernel.ROTARY);
        engine.rotary(in.own(), ownOrNull(begins), sequenceLength, cos.own(), sin.own(), headSize, back,
                out.own());
        hook.ended(Kernel.ROTARY, begun, out);
    }

    /** The beginnings of documents, or null. */
    private CheckedTensor starts(Operands check, Kernel kernel, Tensor starts, CheckedTensor rows,
            int sequenceLength) {
        if (starts == null) {
            return null;
        }
        CheckedTensor own = check.ids("starts", starts, rows.size(0));
        ids.requireStarts(sequenceLength, kernel, own);
        return own;
    }

    static Tensor ownOrNull(CheckedTensor tensor) {
        return tensor == null ? null : tensor.own();
    }
}
