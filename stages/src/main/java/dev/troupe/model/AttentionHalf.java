package dev.troupe.model;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * The first half of a block: {@code y = x + attention(norm(x) Wqkv + bqkv) Wproj + bproj} with causal attention (Vaswani
 * et al. 2017), the norm in front (Radford et al. 2019). Its forward leaves x and what is added to it; the second half
 * adds them.
 *
 * <p>N = B T rows, C hidden size: x and y [N x C], qkv [N x 3C], Wqkv [C x 3C], Wproj [C x C]. Of t ranks that share the
 * stage each has H/t of the H heads: their columns of qkv and Wqkv, queries, keys and values each, and their rows of
 * Wproj.
 */
final class AttentionHalf {
    private final Engine engine;
    private final TensorPool pool;
    private final int sequenceLength;
    private final int heads;
    private final int allHeads;
    private final int firstHead;
    private final ResidualStream stream;
    private final StreamDropout outputDropout;
    private final Shape activation;
    private final Shape attendedShape;
    private final Shape qkvShape;
    private final Shape stateShape;
    private final boolean shedsAttention;
    private final int number;
    private final Norm norm;
    private final Parameter qkvWeight;
    private final Parameter qkvBias;
    private final Parameter projectionWeight;
    private final Parameter projectionBias;

    AttentionHalf(LayerContext context, int number, String block) {
        int width = context.model().hidden();
        this.number = number;
        engine = context.engine();
        pool = context.pool();
        sequenceLength = context.sequenceLength();
        allHeads = context.model().heads();
        heads = context.own(allHeads);
        firstHead = context.share().group().rank() * heads;
        stream = new ResidualStream(context);
        outputDropout = new StreamDropout(context, stream, number, DropoutKey.Site.ATTENTION_OUTPUT);
        activation = context.activation(width);
        attendedShape = context.activation(context.own(width));
        qkvShape = context.activation(context.own(3 * width));
        stateShape = engine.attentionStateShape(context.microbatchSize(), sequenceLength, heads);
        // True of an engine that keeps all probabilities, T numbers a row and head. One that keeps a number a row and head
        // makes them again in its backward anyway.
        shedsAttention = stateShape.elementCount() > attendedShape.elementCount();
        norm = new Norm(context, block + ".ln_1");
        qkvWeight = context.byColumns(block + ".attn.c_attn.weight", 3, width, 3 * width);
        qkvBias = context.byColumns(block + ".attn.c_attn.bias", 3, 3 * width);
        projectionWeight = context.byRows(block + ".attn.c_proj.weight", width, width);
        projectionBias = Parameter.of(block + ".attn.c_proj.bias", width);
    }

    List<Parameter> parameters() {
        List<Parameter> all = new ArrayList<>(norm.parameters());
        all.addAll(List.of(qkvWeight, qkvBias, projectionWeight, projectionBias));
        return all;
    }

    /** One microbatch. */
    final class Pass {
        private final Norm.Pass normPass = norm.new Pass();
        private DropoutKey dropoutKey;
        private Tensor normed;
        private Tensor qkv;
        private Tensor state;
        private Tensor attended;
        private Tensor outputGradient;
        private Tensor qkvGradient;

        /** Takes over {@code x}, the {@link #residual}; returns what is to be added to it, which the caller gives back. */
        Tensor forward(Tensor x, DropoutKey drawn) {
            dropoutKey = drawn;
            normed = stream.intoWhole(normPass.forward(x));
            return attendAndProject();
        }

        private Tensor attendAndProject() {
            qkv = pool.take(qkvShape);
            engine.linear(normed, qkvWeight.operand(), qkvBias.weights(), qkv);
            attend();
            Tensor added = stream.project(attended, projectionWeight, projectionBias);
            outputDropout.forward(added, dropoutKey);
            return added;
        }

        /** What passes by this half. */
        Tensor residual() {
            return normPass.input();
        }

        private void attend() {
            state = pool.takeFloats(stateShape);
            attended = pool.take(attendedShape);
            engine.causalAttention(qkv, sequenceLength, heads, dropout(), state, attended);
        }

        private Dropout dropout() {
            return dropoutKey.ofHeads(number, allHeads, firstHead);
        }

        /** Keeps the norm's statistics, qkv, and what attention leaves unless that is large. */
        void shed() {
            normed = pool.drop(normed);
            if (shedsAttention) {
                state = pool.drop(state);
                attended = pool.drop(attended);
            }
        }

        /** Keeps its input alone. */
        void rewind() {
            normPass.rewind();
            normed = pool.drop(normed);
            qkv = pool.drop(qkv);
            state = pool.drop(state);
            attended = pool.drop(attended);
        }

        /** The forward of the input that {@link #rewind} left. */
        Tensor replay() {
            normed = stream.intoWhole(normPass.replay());
            return attendAndProject();
        }

        Tensor backwardInput(Tensor dy) {
            outputGradient = outputDropout.backward(dy, dropoutKey);
            if (attended == null) {
                attend();
            }
            Tensor dAttended = pool.take(attendedShape);
            engine.matmul(outputGradient, false, projectionWeight.operand(), true, dAttended, false);
            qkvGradient = pool.take(qkvShape);
            engine.causalAttentionBackward(dAttended, qkv, attended, state, sequenceLength, heads, dropout(),
                    qkvGradient);
            // What only this half of the backward reads goes back now; the other half may come much later.
            pool.give(dAttended);
            qkv = pool.drop(qkv);
            state = pool.drop(state);
            Tensor dNormed = pool.take(activation);
            engine.matmul(qkvGradient, false, qkvWeight.operand(), true, dNormed, false);
            dNormed = stream.intoSum(dNormed);
            Tensor dx = stream.pastHalf(dy, outputGradient);
            normPass.backwardInput(dNormed, dx, true);
            return dx;
        }

        void backwardWeight() {
            if (normed == null) {
                normed = stream.intoWhole(normPass.again());
            }
            engine.matmul(attended, true, outputGradient, false, projectionWeight.gradient(), true);
            engine.biasBackward(outputGradient, projectionBias.gradient());
            engine.matmul(normed, true, qkvGradient, false, qkvWeight.gradient(), true);
            engine.biasBackward(qkvGradient, qkvBias.gradient());
            normPass.backwardWeight();
            release();
        }

        void release() {
            normPass.release();
            normed = pool.drop(normed);
            qkv = pool.drop(qkv);
            state = pool.drop(state);
            attended = pool.drop(attended);
            outputGradient = pool.drop(outputGradient);
            qkvGradient = pool.drop(qkvGradient);
        }
    }
}
