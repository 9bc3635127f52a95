package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;

/**
 * Token and position embedding (Radford et al. 2019): {@code y[n] = table[tokens[n]] + positions[n mod T]}.
 *
 * <p>N = B T rows of microbatch times sequence, C hidden size, V vocabulary: tokens [N], table [V x C], positions [at
 * least T x C], y [N x C]. Of t ranks that share the stage each has V/t rows of the table, and all positions.
 */
public final class EmbeddingLayer implements Layer {
    private final Engine engine;
    private final TensorPool pool;
    private final int sequenceLength;
    private final ResidualStream stream;
    private final StreamDropout dropout;
    private final Shape outputShape;
    private final boolean addsPositions;
    private final Parameter tokenTable;
    private final Parameter positionTable;

    /**
     * Makes the layer on a rank.
     *
     * @param tokens
     *            [V x C]
     * @param positions
     *            [longest sequence x C]
     */
    public EmbeddingLayer(LayerContext context, ParameterSpec tokens, ParameterSpec positions) {
        engine = context.engine();
        pool = context.pool();
        sequenceLength = context.sequenceLength();
        stream = new ResidualStream(context);
        dropout = new StreamDropout(context, stream, 0, DropoutKey.Site.EMBEDDING);
        // The rows of tokens are added up over the ranks, so one rank adds those of positions.
        addsPositions = context.share().group().rank() == 0;
        outputShape = context.activation(context.hidden());
        tokenTable = context.parameter(tokens);
        positionTable = context.parameter(positions);
    }

    @Override
    public List<Parameter> parameters() {
        return List.of(tokenTable, positionTable);
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
        private DropoutKey dropoutKey;
        private Tensor tokens;
        private Tensor outputGradient;

        /** The input is the token ids, INT32 [N]; those of another rank's rows of the table are elsewhere. */
        @Override
        public Tensor forward(Tensor x, DropoutKey drawn) {
            tokens = x;
            dropoutKey = drawn;
            Tensor y = pool.take(outputShape);
            engine.embedding(tokens, tokenTable.weights(), addsPositions ? positionTable.weights() : null,
                    sequenceLength, y);
            Tensor own = stream.intoSum(y);
            dropout.forward(own, dropoutKey);
            return own;
        }

        /** Keeps its tokens alone, here and in the next two. */
        @Override
        public void shed() {
        }

        @Override
        public void rewind() {
        }

        @Override
        public void replay() {
        }

        /** There is no gradient for token ids, so this returns null. */
        @Override
        public Tensor backwardInput(Tensor dy) {
            outputGradient = dropout.backward(dy, dropoutKey);
            if (outputGradient != dy) {
                pool.give(dy);
            }
            return null;
        }

        @Override
        public void backwardWeight() {
            engine.embeddingBackward(tokens, outputGradient, sequenceLength, tokenTable.gradient(),
                    positionTable.gradient());
            release();
        }

        @Override
        public void release() {
            tokens = pool.drop(tokens);
            outputGradient = pool.drop(outputGradient);
        }
    }
}
