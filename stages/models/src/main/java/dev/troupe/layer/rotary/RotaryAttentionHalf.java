package dev.troupe.layer.rotary;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.AttentionHeads;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.Half;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.Norm;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.layer.cache.CachedRows;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The first half of a block: {@code y = x + attention(turn(q), turn(k), v) Wo^T} with q, k and v projections of
 * {@code norm(x)}, causal attention with heads that may share keys and values (Ainslie et al. 2023), and rotary positions
 * (Su et al. 2021).
 *
 * <p>N = B T rows, C hidden size, H heads of D numbers, K of them with keys and values: x and y [N x C], q [N x H D], k and
 * v [N x K D], Wo [C x H D]. Each of the t ranks of a group has H/t heads, and K/t of keys and values: their rows of the
 * first three matrices, and their columns of Wo.
 */
public final class RotaryAttentionHalf extends Half {
    private final int block;
    private final int ownKeyValueHeads;
    private final TensorPool.Extent attendedShape;
    private final TensorPool.Extent valueShape;
    private final AttentionHeads heads;
    private final TurnedHeads queries;
    private final TurnedHeads keys;
    private final Projection values;
    private final Projection output;

    /**
     * The parameters of the half.
     *
     * @param heads H
     * @param keyValueHeads K
     * @param queries [H D x C]
     * @param keys [K D x C]
     * @param values [K D x C]
     * @param headNorms the norms of each head of queries and of keys, each [D]; empty if the model has none
     * @param output [C x H D]
     */
    public record Spec(int heads, int keyValueHeads, Norm.Spec norm, Projection.Spec queries, Projection.Spec keys,
            Projection.Spec values, List<Norm.Spec> headNorms, Projection.Spec output, Frequencies frequencies) {
        /** Returns all parameters, in the order of the published models. */
        public List<ParameterSpec> parameters() {
            Stream<List<ParameterSpec>> projections = Stream.of(queries, keys, values, output)
                    .map(Projection.Spec::parameters);
            Stream<List<ParameterSpec>> norms = Stream.concat(Stream.of(norm), headNorms.stream())
                    .map(Norm.Spec::parameters);
            return Stream.concat(projections, norms).flatMap(List::stream).toList();
        }

        private Optional<Norm.Spec> headNorm(int index) {
            return headNorms.isEmpty() ? Optional.empty() : Optional.of(headNorms.get(index));
        }
    }

    /**
     * Makes the half on a rank.
     *
     * @param block the block's number in the model, for dropout: the embedding is 0
     */
    public RotaryAttentionHalf(LayerContext context, int block, Spec spec) {
        super(context, block, DropoutKey.Site.ATTENTION_OUTPUT, spec.norm());
        this.block = block;
        ownKeyValueHeads = context.own(spec.keyValueHeads());
        RotaryAngles angles = RotaryAngles.of(context, spec.frequencies());
        int headSize = spec.frequencies().headSize();
        queries = new TurnedHeads(context, spec.queries(), spec.headNorm(0), angles, headSize);
        keys = new TurnedHeads(context, spec.keys(), spec.headNorm(1), angles, headSize);
        values = new Projection(context, spec.values());
        output = new Projection(context, spec.output());
        valueShape = context.activation(values.outputs());
        attendedShape = context.activation(output.inputs());
        heads = new AttentionHeads(context, block, spec.heads(), attendedShape);
    }

    @Override
    public List<Parameter> parameters() {
        return Stream.of(queries.projectionParameters().stream(), keys.projectionParameters().stream(),
                values.parameters().stream(), output.parameters().stream(), norm.parameters().stream(),
                queries.normParameters(), keys.normParameters()).flatMap(some -> some).toList();
    }

    @Override
    public Pass newPass() {
        return new AttentionPass();
    }

    private final class AttentionPass extends Pass {
        private final TurnedHeads.Pass query = queries.new Pass();
        private final TurnedHeads.Pass key = keys.new Pass();
        private Tensor value;
        private Tensor state;
        private Tensor attended;
        private Tensor valueGradient;

        @Override
        protected void forward() {
            query.enter(normed, microbatch);
            key.enter(normed, microbatch);
            value = take(valueShape);
            values.forward(normed, value, microbatch);
            CachedRows texts = microbatch.texts();
            if (texts != null) {
                texts.keep(block, key.turned(), value);
            }
            if (texts == null || texts.areBeginning()) {
                attend();
            } else {
                attended = take(attendedShape);
                texts.attend(block, query.turned(), heads.own(), ownKeyValueHeads, attended);
            }
        }

        private void attend() {
            state = pool.takeFloats(heads.state(), microbatch.length());
            attended = take(attendedShape);
            engine.groupedAttention(query.turned(), key.turned(), value, microbatch.starts(), microbatch.length(),
                    heads.own(), ownKeyValueHeads, heads.dropout(microbatch), state, attended);
        }

        @Override
        protected Tensor projected() {
            Tensor added = take(activation);
            output.forward(attended, added, microbatch);
            return stream.leave(added, microbatch.length());
        }

        /** Frees the tensors except queries, keys and values, and the output of attention unless its state is large. */
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
            output.backwardInput(outputGradient, dAttended, microbatch);
            valueGradient = take(valueShape);
            engine.groupedAttentionBackward(dAttended, query.turned(), key.turned(), value, microbatch.starts(),
                    attended, state, microbatch.length(), heads.own(), ownKeyValueHeads, heads.dropout(microbatch),
                    query.takeGradient(), key.takeGradient(), valueGradient);
            pool.give(dAttended);
            value = pool.drop(value);
            state = pool.drop(state);
            Tensor dNormed = take(activation);
            query.backwardInput(dNormed, false, weightsFollow);
            key.backwardInput(dNormed, true, weightsFollow);
            values.addBackwardInput(valueGradient, dNormed, microbatch);
            return dNormed;
        }

        @Override
        protected void backwardInnerWeight() {
            output.backwardWeight(attended, outputGradient, microbatch);
            query.backwardWeight(normed);
            key.backwardWeight(normed);
            values.backwardWeight(normed, valueGradient, microbatch);
        }

        @Override
        protected void releaseInner() {
            query.release();
            key.release();
            value = pool.drop(value);
            state = pool.drop(state);
            attended = pool.drop(attended);
        }

        /** Does nothing: the passes of queries and keys free their gradients. */
        @Override
        protected void releaseInnerGradients() {
            valueGradient = pool.drop(valueGradient);
        }
    }
}
