package dev.troupe.model;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.model.spec.ModelConfig;
import java.util.List;

/**
 * Token and position embedding (Radford et al. 2019): {@code y[n] = wte[tokens[n]] + wpe[n mod T]}.
 *
 * <p>N = B T rows of microbatch times sequence, C hidden size, V vocabulary: tokens [N], wte [V x C], wpe [at least T x
 * C], y [N x C]. Of t ranks that share the stage each has V/t rows of wte, and all of wpe.
 */
final class EmbeddingLayer implements Layer {
    static final String TOKEN_TABLE = "wte.weight";

    private final Engine engine;
    private final TensorPool pool;
    private final int sequenceLength;
    private final ResidualStream stream;
    private final StreamDropout dropout;
    private final Shape outputShape;
    private final boolean addsPositions;
    private final Parameter tokenTable;
    private final Parameter positionTable;

    EmbeddingLayer(LayerContext context) {
        ModelConfig model = context.model();
        engine = context.engine();
        pool = context.pool();
        sequenceLength = context.sequenceLength();
        stream = new ResidualStream(context);
        dropout = new StreamDropout(context, stream, number(), DropoutKey.Site.EMBEDDING);
        // The rows of tokens are added up over the ranks, so one rank adds those of positions.
        addsPositions = context.share().group().rank() == 0;
        outputShape = context.activation(model.hidden());
        tokenTable = context.byRows(TOKEN_TABLE, model.vocabularySize(), model.hidden());
        positionTable = Parameter.of("wpe.weight", model.sequenceLength(), model.hidden());
    }

    @Override
    public int number() {
        return 0;
    }

    @Override
    public List<Parameter> parameters() {
        return List.of(tokenTable, positionTable);
    }

    Parameter tokenTable() {
        return tokenTable;
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
