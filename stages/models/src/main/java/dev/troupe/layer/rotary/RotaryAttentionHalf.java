package dev.troupe.layer.rotary;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.Half;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.Norm;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.ResidualStream;
import dev.troupe.layer.StreamDropout;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The first half of a block: {@code y = x + attention(turn(q), turn(k), v) Wo^T} with q, k and v projections of {@code
 * norm(x)}, causal attention whose heads may share keys and values (Ainslie et al. 2023), and rotary positions (Su et al.
 * 2021).
 *
 * <p>N = B T rows, C hidden size, H heads of D numbers, K of them with keys and values: x and y [N x C], q [N x H D], k and
 * v [N x K D], Wo [C x H D]. Of t ranks that share the stage each has H/t heads and K/t with keys and values: their rows of
 * the first three matrices, and their columns of Wo.
 */
public final class RotaryAttentionHalf implements Half {
    private final Engine engine;
    private final TensorPool pool;
    private final int sequenceLength;
    private final int block;
    private final int allHeads;
    private final int ownHeads;
    private final int ownKeyValueHeads;
    private final int firstHead;
    private final ResidualStream stream;
    private final StreamDropout outputDropout;
    private final Shape activation;
    private final Shape attendedShape;
    private final Shape valueShape;
    private final Shape stateShape;
    private final boolean shedsAttention;
    private final Norm norm;
    private final TurnedHeads queries;
    private final TurnedHeads keys;
    private final Projection values;
    private final Projection output;

    /**
     * What the half is made of.
     *
     * @param heads
     *            H
     * @param keyValueHeads
     *            K
     * @param norm
     *            of the stream
     * @param queries
     *            [H D x C]
     * @param keys
     *            [K D x C]
     * @param values
     *            [K D x C]
     * @param headNorms
     *            of each head of the queries and of the keys, where the model has them; empty or two of [D]
     * @param output
     *            [C x H D]
     * @param frequencies
     *            of the positions
     */
    public record Spec(int heads, int keyValueHeads, Norm.Spec norm, Projection.Spec queries, Projection.Spec keys,
            Projection.Spec values, List<Norm.Spec> headNorms, Projection.Spec output, Frequencies frequencies) {
        /** All parameters, in the order of the published models. */
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
     * @param block
     *            the block's number in the model, for what drops out: the embedding is 0
     */
    public RotaryAttentionHalf(LayerContext context, int block, Spec spec) {
        this.block = block;
        engine = context.engine();
        pool = context.pool();
        sequenceLength = context.sequenceLength();
        allHeads = spec.heads();
        ownHeads = context.own(spec.heads());
        ownKeyValueHeads = context.own(spec.keyValueHeads());
        firstHead = context.share().group().rank() * ownHeads;
        stream = new ResidualStream(context);
        outputDropout = new StreamDropout(context, stream, block, DropoutKey.Site.ATTENTION_OUTPUT);
        activation = context.activation(context.hidden());
        norm = new Norm(context, spec.norm());
        RotaryAngles angles = RotaryAngles.of(context, spec.frequencies());
        queries = new TurnedHeads(context, spec.queries(), spec.headNorm(0), angles);
        keys = new TurnedHeads(context, spec.keys(), spec.headNorm(1), angles);
        values = new Projection(context, spec.values());
        output = new Projection(context, spec.output());
        valueShape = context.activation(values.outputs());
        attendedShape = context.activation(output.inputs());
        stateShape = engine.attentionStateShape(context.microbatchSize(), sequenceLength, ownHeads);
        // True of an engine that keeps all probabilities, T numbers a row and head. One that keeps a number a row and head
        // makes them again in its backward anyway.
        shedsAttention = stateShape.elementCount() > attendedShape.elementCount();
    }

    @Override
    public List<Parameter> parameters() {
        return Stream.of(queries.projectionParameters().stream(), keys.projectionParameters().stream(),
                values.parameters().stream(), output.parameters().stream(), norm.parameters().stream(),
                queries.normParameters(), keys.normParameters()).flatMap(some -> some).toList();
    }

    @Override
    public Pass newPass() {
        return new Pass();
    }

    /** One microbatch. */
    final class Pass implements Half.Pass {
        private final Norm.Pass normPass = norm.new Pass();
        private final TurnedHeads.Pass query = queries.new Pass();
        private final TurnedHeads.Pass key = keys.new Pass();
        private DropoutKey dropoutKey;
        private Tensor normed;
        private Tensor value;
        private Tensor state;
        private Tensor attended;
        private Tensor outputGradient;
        private Tensor valueGradient;

        @Override
        public void enter(Tensor residual, Tensor x, DropoutKey drawn) {
            dropoutKey = drawn;
            attendTo(normPass.forwardOfSum(residual, x));
        }

        private void attendTo(Tensor own) {
            normed = stream.intoWhole(own);
            query.enter(normed);
            key.enter(normed);
            value = pool.take(valueShape);
            values.forward(normed, value);
            attend();
        }

        private void attend() {
            state = pool.takeFloats(stateShape);
            attended = pool.take(attendedShape);
            engine.groupedAttention(query.turned(), key.turned(), value, null, sequenceLength, ownHeads,
                    ownKeyValueHeads, dropout(), state, attended);
        }

        private Dropout dropout() {
            return dropoutKey.ofHeads(block, allHeads, firstHead);
        }

        @Override
        public Tensor project() {
            Tensor added = pool.take(activation);
            output.forward(attended, added);
            added = stream.intoSum(added);
            outputDropout.forward(added, dropoutKey);
            return added;
        }

        @Override
        public Tensor residual() {
            return normPass.input();
        }

        /** Keeps the norm's statistics, queries, keys and values, and what attention leaves unless that is large. */
        @Override
        public void shed() {
            normed = pool.drop(normed);
            if (shedsAttention) {
                state = pool.drop(state);
                attended = pool.drop(attended);
            }
        }

        @Override
        public void rewind() {
            normPass.rewind();
            releaseHeads();
        }

        @Override
        public void replay() {
            attendTo(normPass.replay());
        }

        @Override
        public Tensor backwardInput(Tensor dy) {
            outputGradient = outputDropout.backward(dy, dropoutKey);
            if (attended == null) {
                attend();
            }
            Tensor dAttended = pool.take(attendedShape);
            output.backwardInput(outputGradient, dAttended);
            valueGradient = pool.take(valueShape);
            engine.groupedAttentionBackward(dAttended, query.turned(), key.turned(), value, null, attended, state,
                    sequenceLength, ownHeads, ownKeyValueHeads, dropout(), query.takeGradient(), key.takeGradient(),
                    valueGradient);
            // What only this half of the backward reads goes back now; the other half may come much later.
            pool.give(dAttended);
            value = pool.drop(value);
            state = pool.drop(state);
            Tensor dNormed = pool.take(activation);
            query.backwardInput(dNormed, false);
            key.backwardInput(dNormed, true);
            values.addBackwardInput(valueGradient, dNormed);
            dNormed = stream.intoSum(dNormed);
            Tensor dx = stream.pastHalf(dy, outputGradient);
            normPass.backwardInput(dNormed, dx, true);
            return dx;
        }

        @Override
        public void backwardWeight() {
            if (normed == null) {
                normed = stream.intoWhole(normPass.again());
            }
            output.backwardWeight(attended, outputGradient);
            query.backwardWeight(normed);
            key.backwardWeight(normed);
            values.backwardWeight(normed, valueGradient);
            normPass.backwardWeight();
            release();
        }

        @Override
        public void release() {
            normPass.release();
            releaseHeads();
            outputGradient = pool.drop(outputGradient);
            valueGradient = pool.drop(valueGradient);
        }

        private void releaseHeads() {
            query.release();
            key.release();
            normed = pool.drop(normed);
            value = pool.drop(value);
            state = pool.drop(state);
            attended = pool.drop(attended);
        }
    }
}
