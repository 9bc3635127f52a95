package dev.troupe.layer.absolute;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.AttentionHeads;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.Half;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.Norm;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.layer.cache.CachedRows;
import java.util.List;
import java.util.stream.Stream;

/**
 * The first half of a block: {@code y = x + attention(norm(x) Wqkv + bqkv) Wproj + bproj} with causal attention (Vaswani et
 * al. 2017), the norm in front (Radford et al. 2019).
 *
 * <p>N = B T rows, C hidden size: x and y [N x C], qkv [N x 3C], Wqkv [C x 3C], Wproj [C x C]. Each of the t ranks of a
 * group has H/t heads: their columns of qkv and Wqkv for queries, keys and values, and their rows of Wproj.
 */
public final class AttentionHalf extends Half {
    private final TensorPool.Extent attendedShape;
    private final TensorPool.Extent qkvShape;
    private final AttentionHeads heads;
    private final int block;
    private final Linear toQkv;
    private final Linear projection;

    /**
     * Makes the half on a rank.
     *
     * @param block the block's number in the model, for dropout: the embedding is 0
     * @param heads H
     * @param qkv [C x 3C], queries, keys and values next to each other
     * @param projection [C x C]
     */
    public AttentionHalf(LayerContext context, int block, int heads, Norm.Spec norm, Linear.Spec qkv,
            Linear.Spec projection) {
        super(context, block, DropoutKey.Site.ATTENTION_OUTPUT, norm);
        this.block = block;
        toQkv = new Linear(context, qkv);
        this.projection = new Linear(context, projection);
        qkvShape = context.activation(toQkv.outputs());
        attendedShape = context.activation(this.projection.inputs());
        this.heads = new AttentionHeads(context, block, heads, attendedShape);
    }

    @Override
    public List<Parameter> parameters() {
        return Stream.of(norm.parameters(), toQkv.parameters(), projection.parameters()).flatMap(List::stream).toList();
    }

    @Override
    public Pass newPass() {
        return new AttentionPass();
    }

    private final class AttentionPass extends Pass {
        private Tensor qkv;
        private Tensor state;
        private Tensor attended;
        private Tensor qkvGradient;

        @Override
        protected void forward() {
            qkv = take(qkvShape);
            toQkv.forward(normed, qkv, microbatch);
            CachedRows texts = microbatch.texts();
            if (texts == null) {
                attend();
            } else if (texts.areBeginning()) {
                texts.keepOf(block, qkv, null);
                attend();
            } else {
                Tensor queries = take(attendedShape);
                texts.keepOf(block, qkv, queries);
                attended = take(attendedShape);
                texts.attend(block, queries, heads.own(), heads.own(), attended);
                pool.give(queries);
            }
        }

        private void attend() {
            state = pool.takeFloats(heads.state(), microbatch.length());
            attended = take(attendedShape);
            engine.causalAttention(qkv, microbatch.length(), heads.own(), heads.dropout(microbatch), state, attended);
        }

        @Override
        protected Tensor projected() {
            return projection.forwardIntoSum(attended, activation, stream, microbatch);
        }

        /** Frees the tensors except qkv, and the output of attention unless its state is large. */
        @Override
        protected void dropRecomputableInner() {
            if (heads.areRecomputed()) {
                state = pool.drop(state);
                attended = pool.drop(attended);
            }
        }

        @Override
        protected Tensor backwardInner() {
            if (attended == null) {
                attend();
            }
            Tensor dAttended = take(attendedShape);
            projection.backwardInput(outputGradient, dAttended, microbatch);
            qkvGradient = take(qkvShape);
            engine.causalAttentionBackward(dAttended, qkv, attended, state, microbatch.length(), heads.own(),
                    heads.dropout(microbatch), qkvGradient);
            pool.give(dAttended);
            qkv = pool.drop(qkv);
            state = pool.drop(state);
            Tensor dNormed = take(activation);
            toQkv.backwardInput(qkvGradient, dNormed, microbatch);
            return dNormed;
        }

        @Override
        protected void backwardInnerWeight() {
            projection.backwardWeight(attended, outputGradient, microbatch);
            toQkv.backwardWeight(normed, qkvGradient, microbatch);
        }

        @Override
        protected void releaseInner() {
            qkv = pool.drop(qkv);
            state = pool.drop(state);
            attended = pool.drop(attended);
        }

        @Override
        protected void releaseInnerGradients() {
            qkvGradient = pool.drop(qkvGradient);
        }
    }
}
