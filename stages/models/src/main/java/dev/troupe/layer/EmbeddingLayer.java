package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.cache.CachedRows;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;
import java.util.Optional;

/**
 * Token embedding, with positions if a model has a table of them (Radford et al. 2019):
 * {@code y[n] = table[tokens[n]] + positions[n mod T]}.
 *
 * <p>N = B T rows of microbatch times sequence, C hidden size, V vocabulary: tokens [N], table [V x C], positions [at least
 * T x C], y [N x C]. Each of the t ranks of a group has V/t rows of the table, and all positions.
 */
public final class EmbeddingLayer implements Layer {
    private final Engine engine;
    private final TensorPool pool;
    private final ResidualStream stream;
    private final StreamDropout dropout;
    private final TensorPool.Extent outputShape;
    private final boolean addsPositions;
    private final Parameter tokenTable;
    /** Null if the model has positions elsewhere. */
    private final Parameter positionTable;

    /**
     * Makes the layer on a rank.
     *
     * @param tokens [V x C]
     * @param positions [longest sequence x C]; empty if the model has positions elsewhere
     */
    public EmbeddingLayer(LayerContext context, ParameterSpec tokens, Optional<ParameterSpec> positions) {
        engine = context.engine();
        pool = context.pool();
        stream = new ResidualStream(context);
        dropout = new StreamDropout(context, stream, 0, DropoutKey.Site.EMBEDDING);
        // The ranks' token rows are summed, so only one rank adds the rows of positions.
        addsPositions = positions.isPresent() && context.group().rank() == 0;
        outputShape = context.activation(context.hidden());
        tokenTable = context.parameter(tokens);
        positionTable = positions.map(context::parameter).orElse(null);
    }

    @Override
    public List<Parameter> parameters() {
        return positionTable == null ? List.of(tokenTable) : List.of(tokenTable, positionTable);
    }

    public Parameter tokenTable() {
        return tokenTable;
    }

    @Override
    public boolean readsWeightsBackwards() {
        return false;
    }

    @Override
    public Pass newTape() {
        return new Pass();
    }

    /** One microbatch: keeps its tokens from the forward on, and the gradient between the backwards. */
    final class Pass implements Tape {
        private MicrobatchContext microbatch;
        private Tensor tokens;
        private Tensor outputGradient;

        /** The input is the token ids, INT32 [N]; ids in another rank's rows are {@code NOT_IN_SHARD}. */
        @Override
        public Tensor forward(Tensor x, MicrobatchContext context) {
            tokens = x;
            microbatch = context;
            Tensor y = pool.take(outputShape, microbatch.length());
            CachedRows texts = microbatch.texts();
            if (texts == null || !addsPositions) {
                engine.embedding(tokens, tokenTable.weights(), addsPositions ? positionTable.weights() : null,
                        microbatch.length(), y);
            } else {
                texts.ofEach((first, rows, place) -> engine.embedding(texts.rowsOf(tokens, first, rows),
                        tokenTable.weights(), positionsFrom(place), rows, texts.rowsOf(y, first, rows)));
            }
            Tensor own = stream.leave(y, microbatch.length());
            dropout.forward(own, 1, microbatch);
            return own;
        }

        private Tensor positionsFrom(int place) {
            Tensor all = positionTable.weights();
            int hidden = outputShape.whole().size(1);
            return place == 0
                    ? all
                    : engine.range(all, (long) place * hidden, Shape.of(all.shape().size(0) - place, hidden));
        }

        /** Does nothing, like the next two methods, since only tokens are kept. */
        @Override
        public void dropRecomputable() {
        }

        @Override
        public void dropAllButInput() {
        }

        @Override
        public void recompute() {
        }

        /** There is no gradient for token ids, so this returns null. */
        @Override
        public Tensor backwardInput(Tensor dy, boolean weightsFollow) {
            outputGradient = dropout.backward(dy, 1, microbatch);
            if (outputGradient != dy) {
                pool.give(dy);
            }
            return null;
        }

        @Override
        public void backwardWeight() {
            if (tokenTable.spec().isTrained()) {
                engine.embeddingBackward(tokens, outputGradient, microbatch.length(), tokenTable.gradient(),
                        positionTable == null ? null : positionTable.gradient());
            }
            release();
        }

        @Override
        public void release() {
            tokens = pool.drop(tokens);
            outputGradient = pool.drop(outputGradient);
        }
    }
}
